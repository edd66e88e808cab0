// What kind of machine the stand-in pretends to be.
//
// "devices=4,memory=1073741824,order=shuffled,seed=7,lose=1@200": keys
//   devices   how many                                  (8)
//   memory    bytes of each                             (4 GiB)
//   capability  compute capability, 90 for 9.0          (90)
//   order     shuffled or natural                       (shuffled)
//   seed      of all shuffling                          (1)
//   lose      DEVICE@LAUNCH: the device is lost at that launch, counted from 1; may be given several times
//   unlike    1: each device is a model of its own      (0)
//   peer      0: no device reaches another's memory     (1)
//   ftz       1: single precision flushes denormals     (0)
//   contract  1: products are fused with sums           (0)
//   budget    instructions a thread may take            (50 million)
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "exec/decode.h"

namespace standin {

struct Configuration {
  int devices = 8;
  std::uint64_t memory = std::uint64_t{4} << 30;
  int capability = 90;
  bool shuffled = true;
  std::uint64_t seed = 1;
  std::map<int, std::uint64_t> lose;  // device -> launch
  bool unlike = false;
  bool peer = true;
  Defects defects;
  std::uint64_t budget = 50'000'000;
};

// Throws Problem(invalid_value) that names the key.
Configuration parse_configuration(std::string_view text);

}  // namespace standin
