// Where the marks of a curve's axes stand, for the terminal and for the file alike. Both value axes have
// kValueSteps equal steps, so accuracy on the left and loss on the right share their grid lines.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "train/observer.h"

namespace lockstep::report {

constexpr int kValueSteps = 5;

// Epochs to label: the first, the last and round ones between, `most` or fewer where that is 2 or more.
std::vector<int> epoch_ticks(int epochs, int most);

// Top of a value axis: the least of 0.5, 1, 2.5, 5, 10, 25, ..., each also divided by 10, 100, ..., that
// holds `highest` and is not below `least`. Requires: least > 0.
double value_axis_top(double highest, double least);

// Top of the loss axis: 0.5 or more, so that every finite training loss fits.
double loss_axis_top(std::span<const train::EpochReport> epochs);

// Label of step i of kValueSteps on an axis from 0 to `top`: 0.8, 1.5, 20, 0.004.
std::string value_label(double top, int step);

}  // namespace lockstep::report
