// The last lines that a run prints.
#pragma once
#include <string>
#include <string_view>

#include "train/observer.h"

namespace lockstep::report {

// For stdout: the book's line (accuracy of the last epoch, mean seconds of training over the epochs) and the
// hash of the weights, each ended by a newline.
std::string summary(const train::RunEnd& end);

// For stderr: where the run was kept, ended by a newline; empty if it was not.
std::string kept_in(const train::RunEnd& end);

// For stderr: in which of `epochs` a run was interrupted and the command that goes on with it, ended by a
// newline. Requires: the run was interrupted and kept.
std::string interrupted(const train::RunEnd& end, int epochs);

// For stderr: a run that was taken up again after its last epoch, and the command that adds epochs, ended by
// a newline. Requires: the run was kept.
std::string nothing_left(const train::RunEnd& end);

// The same where the schedule of the learning rate ends with the last epoch, so that none can be added: the
// command that trains `model` on from the run's weights.
std::string nothing_left_of_schedule(const train::RunEnd& end, std::string_view model);

}  // namespace lockstep::report
