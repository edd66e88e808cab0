// The numbers of the last epochs as a small table, to stand beside a curve.
#pragma once
#include <span>
#include <string>

#include "train/observer.h"

namespace lockstep::report {

// Columns of the table of a run with that number of epochs.
int epoch_table_width(int epochs);

// A heading and a line for each of `shown`, none wider than epoch_table_width(epochs), each ended by a
// newline.
std::string epoch_table(std::span<const train::EpochReport> shown, int epochs);

}  // namespace lockstep::report
