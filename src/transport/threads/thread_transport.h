// A transport between threads of one process: a receiver copies straight from the sender's memory.
//
// A send leaves a note in the receiver's mailbox and returns; the receiver copies when it looks (start,
// wait), so that a rank copies what it will work on next, into its own cache. One copy a message, no thread
// of its own. A rank that waits says which notes complete each of its tickets, and is woken by the last note
// of a ticket, not by each: with 16 ranks on 2 cores every wake-up costs as much as copying 40 KB.
#pragma once
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace lockstep::transport {

// Where the ranks of one run meet; each calls join() once. The hub lives as long as one of its transports.
class ThreadHub {
 public:
  explicit ThreadHub(int ranks);
  ~ThreadHub();
  ThreadHub(const ThreadHub&) = delete;
  ThreadHub& operator=(const ThreadHub&) = delete;

  std::unique_ptr<Transport> join(int rank, RankOptions options);

 private:
  struct Boxes;
  class Member;
  const std::shared_ptr<Boxes> boxes_;
};

}  // namespace lockstep::transport
