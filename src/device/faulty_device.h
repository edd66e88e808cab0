// A drill: a device that works until it is told to go wrong. So what a run does about a device that fails,
// hangs, is slow or computes wrongly can be tried at any time, on any device.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace lockstep::device {

struct Drill {
  enum class Kind {
    fail,  // throws
    hang,  // does not come back until it is released
    slow,  // takes 50 ms longer
    flip,  // the lowest bit of the last parameter's first number is wrong after the update
  };
  Kind kind = Kind::fail;
  std::int64_t step = 1;         // from 1; happens once
  std::string instruction = {};  // a layer or a segment where fail, hang and slow happen; empty: the packs
};

// `device`, with the drill in every training program it loads; evaluation is spared. `hang` is called to hang
// and returns when the device is released. load() throws Error(usage) if the program has no such instruction,
// or for a flip where owners update their shards: what they send would spread it over all replicas.
std::unique_ptr<Device> make_faulty(std::unique_ptr<Device> device, const Drill& drill,
                                    std::function<void()> hang);

}  // namespace lockstep::device
