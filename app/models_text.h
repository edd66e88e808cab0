// Models as tables for people and as JSON for programs.
#pragma once
#include <span>
#include <string>

#include "model_facts.h"

namespace lockstep::app {

// A line for each model. `device` says whose memory is meant, `batch` how many examples a step has.
std::string models_table(std::span<const ModelFacts> models, const std::string& device, int batch);

// One model, a line for each layer.
std::string model_table(const ModelFacts& model, const std::string& device, int batch);

// An array of objects, with layers where `models` is a single one.
std::string models_json(std::span<const ModelFacts> models);

}  // namespace lockstep::app
