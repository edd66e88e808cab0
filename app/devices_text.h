// What a survey of the devices found, for people and for programs.
#pragma once
#include <span>
#include <string>

#include "device_survey.h"

namespace lockstep::app {

// A table, then in words what is missing.
std::string devices_table(const Survey& survey);

// One object: devices of {name, kind, model, driver, memory, units, multiply_adds_per_second, exact,
// refused}, missing of lines.
std::string devices_json(const Survey& survey);

struct DevicesReport {
  std::string version, system;
  Survey survey;
  std::vector<GoldenTrial> trials = {};
  std::string not_tried = {};  // why there are no trials
};

// What somebody with such a machine should send us, as plain text.
std::string devices_report(const DevicesReport& report);

}  // namespace lockstep::app
