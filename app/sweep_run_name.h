// What the directory of a run in a sweep is called: lr-0.2_batch-256_2xcpu.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace lockstep::app {

class SweepRunNames {
 public:
  // A run with the settings of an earlier one gets a number behind its name: ..._2xcpu_2.
  std::string next(double lr, int batch, const std::vector<std::string>& devices);

 private:
  std::set<std::string> given_;
};

}  // namespace lockstep::app
