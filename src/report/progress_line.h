// Where a training run stands, in one line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::report {

struct ProgressFigures {
  int epoch = 0, epochs = 0;
  std::int64_t step = 0, steps_per_epoch = 0;
  double loss = 0;  // mean over the epoch so far
  std::optional<double> examples_per_second = {};
  std::optional<double> seconds_left = {};
  std::optional<double> test_accuracy = {};  // of the last finished epoch
};

// "epoch 3/10  step 120/235  loss 0.532  41,200 examples/s  0:21 left  test acc 0.781". What does not fit
// into `width` columns is left out, the least telling first; epoch and step always stay.
std::string progress_line(const ProgressFigures& figures, int width);

}  // namespace lockstep::report
