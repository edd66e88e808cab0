// Every device of this machine: what it is, whether it may compute, how fast it multiplies and adds, and what
// becomes of a short training on it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "devices.h"

namespace lockstep::app {

struct SurveyedDevice {
  device::Listed what;
  double multiply_adds = 0;  // a second
  std::string refused = {};  // why it may not compute; empty: its results are exact

  bool exact() const { return refused.empty(); }
};

struct Survey {
  std::vector<SurveyedDevice> devices;  // the CPU first
  std::vector<std::string> missing;     // why there are none of a kind, a line each
};

Survey survey_devices(Devices& devices);

// The golden training: 20 steps of LeNet on Fashion-MNIST, seed 0.
struct GoldenTrial {
  std::string device;
  double seconds = 0;        // of a step
  std::string weights = {};  // their hash
  std::string failed = {};   // why there are none; empty: there are

  bool same_bits() const;
};

inline constexpr int kGoldenSteps = 20;

// The hash of the weights that every device must have.
std::string golden_weights();

GoldenTrial try_golden(Devices& devices, const std::string& device, const data::Dataset& data);

}  // namespace lockstep::app
