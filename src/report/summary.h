// The last words of a run.
#pragma once
#include <string>

#include "train/observer.h"

namespace lockstep::report {

// For stdout: the book's line (accuracy of the last epoch, mean seconds of training over the epochs) and the
// hash of the weights, each ended by a newline.
std::string summary(const train::RunEnd& end);

// For stderr: where the run was kept, ended by a newline; empty if it was not.
std::string kept_in(const train::RunEnd& end);

}  // namespace lockstep::report
