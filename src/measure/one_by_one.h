// A program whose instructions can be run one at a time.
#pragma once
#include <vector>

#include "program/program.h"

namespace lockstep::measure {

// The same buffers and segments; then every instruction that runs over packs again, each as a segment of its
// own. Once the program's own segments have run, each of these finds in the buffers what it finds in a step.
struct OneByOne {
  program::Program program;
  std::size_t first_single = 0;  // segment of the first instruction that stands alone
};
OneByOne one_by_one(program::Program program);

}  // namespace lockstep::measure
