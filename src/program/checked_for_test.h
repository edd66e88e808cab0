// Programs for tests that only look at them or give them to devices. A Runner holds what it gets against
// check_order(); these are held against it here. tests/rooms_test.py sees that tests make programs in no
// other way.
#pragma once
#include <vector>

#include "program/data_parallel.h"
#include "program/order.h"

namespace lockstep::program {

inline std::vector<Program> checked_data_parallel(const Program& step, const DataPlan& plan, int packs) {
  std::vector<Program> programs = data_parallel(step, plan, packs);
  check_order(programs);
  return programs;
}

}  // namespace lockstep::program
