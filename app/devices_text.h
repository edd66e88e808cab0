// What a survey of the devices found, for people and for programs.
#pragma once
#include <span>
#include <string>

#include "device_survey.h"

namespace lockstep::app {

// A table, then in words what can be divided and what is missing.
std::string devices_table(const Survey& survey);

// One object: name, kind, model, driver, memory, units, multiply_adds_per_second, exact, refused.
std::string device_json(const SurveyedDevice& device);

// One object: devices, each as above, and missing, of lines.
std::string devices_json(const Survey& survey);

struct DevicesReport {
  std::string version, system;
  Survey survey;
  std::vector<GoldenTrial> trials = {};
  bool golden_data = true;     // they trained on Fashion-MNIST
  std::string not_tried = {};  // why there are no trials
};

// What a user with such a machine should send us, as plain text.
std::string devices_report(const DevicesReport& report);

}  // namespace lockstep::app
