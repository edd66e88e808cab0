// The parts by which a machine's devices give evidence. Each makes devices of its own, so that it can run in
// a process of its own.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "arithmetic/convolution_rule.h"
#include "drill.h"
#include "evidence/part.h"

namespace lockstep::app {

inline constexpr int kEvidenceSteps = 5;  // of a training that is compared

evidence::Part machine_part();

// A row {name, kind, model, driver, memory, units, gpu} for each device that a driver lists, then rows
// {missing} that say why there is nothing of a kind.
evidence::Part listing_part();

// A row as in `devices --json`. A device that may not compute fails.
evidence::Part probe_part(const std::string& device);

struct Comparison {
  std::vector<std::string> devices;  // of one setting
  std::string model;                 // of the zoo
  arithmetic::ConvolutionRule convolution = arithmetic::ConvolutionRule::fast;
  std::optional<DeviceDrill> drill = {};
};

// A row as in `verify --json` for cpu:0 and for these devices.
evidence::Part verify_part(const Comparison& comparison);

// What is measured, and for how long.
struct Measurement {
  std::string model;  // of the zoo
  double seconds = 6;
};

// A row as `bench --json` for steps, of a CPU device with all cores and of this device, in turns.
evidence::Part step_part(const std::string& device, const Measurement& measurement);

// A row {work, exchange, seconds, quartiles} for everything that the device does in a step.
evidence::Part work_part(const std::string& device, const Measurement& measurement);

// A row as `bench --json`: kernels and step on one core.
evidence::Part cpu_part(const Measurement& measurement);

}  // namespace lockstep::app
