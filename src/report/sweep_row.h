// One training of a sweep over learning rates, batch sizes and numbers of devices.
#pragma once
#include <span>
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
  std::string run = {};  // name of the directory that keeps it
};

// Has it the highest accuracy of them all? Equal bits on several numbers of devices are all the best.
bool is_best(const SweepRow& row, std::span<const SweepRow> rows);

}  // namespace lockstep::report
