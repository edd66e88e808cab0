// An evaluation for people and for programs.
#pragma once
#include <span>
#include <string>

#include "train/evaluate.h"

namespace lockstep::app {

// Accuracy, loss, and a table by class. Requires: as many names as classes.
std::string evaluation_table(const train::Evaluation& evaluation, std::span<const std::string> names);

// One object: accuracy, loss, examples, classes of {name, accuracy, examples}, weights. What is not a number,
// as the accuracy of a class without examples, is null.
std::string evaluation_json(const train::Evaluation& evaluation, std::span<const std::string> names,
                            const std::string& weights_hash);

}  // namespace lockstep::app
