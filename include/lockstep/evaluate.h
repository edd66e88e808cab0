// How good weights are on a test set.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <lockstep/dataset.h>
#include <lockstep/model.h>
#include <lockstep/weights.h>

namespace lockstep {
inline namespace api {

struct EvaluateOptions {
  Model model = lenet();
  Weights weights = {};
  Dataset data;  // its test set is used
  std::string devices = "cpu:0";
  int threads = 0;
  double timeout = 60;  // seconds without progress after which a device is stuck, as in TrainOptions
};

struct Evaluation {
  double accuracy = 0;
  double loss = 0;                                  // mean over all examples
  std::vector<std::int64_t> seen = {}, right = {};  // by class
  std::vector<std::string> class_names = {};        // see Dataset
};

// Throws Error(usage) if model, weights and data do not fit, Error(device) for a device that fails or is
// stuck.
Evaluation evaluate(const EvaluateOptions& options);

}  // namespace api
}  // namespace lockstep
