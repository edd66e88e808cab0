// One training of a sweep over learning rates, batch sizes and numbers of devices.
#pragma once
#include <string>

namespace lockstep::report {

struct SweepRow {
  double lr = 0;
  int batch = 0;
  int devices = 0;
  double accuracy = 0;           // on the test data; of a run that diverged it means nothing
  double seconds_per_epoch = 0;  // likewise
  std::string weights = {};      // hash of the last weights, 32 hex digits
  bool diverged = false;
};

}  // namespace lockstep::report
