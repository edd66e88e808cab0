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

// Top of the loss axis: the least of 0.5, 1, 2.5, 5, 10, 25, ... that holds every finite training loss.
double loss_axis_top(std::span<const train::EpochReport> epochs);

// Label of step i of kValueSteps on an axis from 0 to `top`: 0.8, 1.5, 20.
std::string value_label(double top, int step);

}  // namespace lockstep::report
