// A transport between threads of one process: a receiver copies straight from the sender's memory.
//
// A send leaves a note in the receiver's mailbox and returns; the receiver copies when it looks (start,
// wait), so that everyone copies what it will work on next, into its own cache. One copy a message, no thread
// of its own. Who waits says which notes it needs and is woken by the last of them, not by each: with 16
// ranks on 2 cores every wake-up costs as much as copying 40 KB.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace lockstep::transport {

struct ThreadOptions {
  int ranks = 1;
  bool spin = true;  // look a while before going to sleep: right where every rank has a core of its own
  // By rank: how it copies what was sent to it. Empty: the numbers are in the host's memory.
  std::vector<std::function<void(std::span<const float> from, std::span<float> to)>> copies = {};
};

// The transports of all ranks. They refer to each other and must live equally long.
std::vector<std::unique_ptr<Transport>> make_thread_transports(const ThreadOptions& options);

}  // namespace lockstep::transport
