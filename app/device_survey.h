// Every device of this machine: what it is, whether it may compute, how fast it multiplies and adds, and what
// becomes of a short training on it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arithmetic/convolution_rule.h"
#include "data/dataset.h"
#include "devices.h"

namespace lockstep::app {

struct SurveyedDevice {
  inventory::Listed what;
  double multiply_adds = 0;  // a second
  std::string refused = {};  // why it may not compute; empty: its results are exact

  bool exact() const { return refused.empty(); }
};

struct Survey {
  std::vector<SurveyedDevice> devices;  // the CPU first
  std::vector<std::string> missing;     // why there are none of a kind, a line each
};

SurveyedDevice survey_cpu();
SurveyedDevice survey_device(Devices& devices, const inventory::Listed& listed);
Survey survey_devices(Devices& devices);

// The golden training: 20 steps of LeNet on Fashion-MNIST, seed 0.
struct GoldenSetting {
  std::vector<std::string> devices;
  arithmetic::ConvolutionRule convolution = arithmetic::ConvolutionRule::fast;
  std::optional<DeviceDrill> drill = {};
};

struct GoldenTrial {
  std::string devices;  // cpu:0+opencl:0
  arithmetic::ConvolutionRule convolution = arithmetic::ConvolutionRule::fast;
  double seconds = 0;           // of a step
  std::vector<int> packs = {};  // of each device
  std::string weights = {};     // their hash; one for each that there is, should replicas differ
  std::string failed = {};      // why there are none; empty: there are
  std::string expected = {};    // the hash they should have

  bool done() const { return failed.empty(); }
  bool same_bits() const { return done() && weights == expected; }
};

inline constexpr int kGoldenSteps = 20;

// The hash of the weights that every device must have.
std::string golden_weights(arithmetic::ConvolutionRule rule);

bool is_golden_data(const data::Split& data);

// Every device that may compute by itself, then each together with the next in the list.
std::vector<std::vector<std::string>> golden_crews(const Survey& survey);

// Expects what is golden.
GoldenTrial try_golden(Devices& devices, const GoldenSetting& setting, const data::Dataset& data);

// On data that is not golden all are expected to have the weights of the first that has some.
void expect_those_of_the_first(std::span<GoldenTrial> trials);

// Throws Error(verification) with the names of those whose bits differ, else Error(device) with those that
// failed.
void check_bits(std::span<const GoldenTrial> trials);

}  // namespace lockstep::app
