// What a model is, in numbers: for the command `models`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace lockstep::app {

struct LayerFacts {
  std::string name, inputs;  // inputs: empty where the layer takes the one before
  std::string kind;          // in words
  model::Shape shape;        // of what it gives
  std::int64_t trained = 0;  // numbers that a gradient changes
  double flops = 0;          // of an example, forward
};

struct ModelFacts {
  std::string name;
  model::Shape input;
  int classes = 0;
  int least_side = 0;           // of pictures that the model takes
  std::int64_t trained = 0;     // numbers that a gradient changes
  std::int64_t statistics = 0;  // running ones, which belong to the weights, too
  // Floating-point operations of an example, two for a multiply-add, as direct convolution counts them, of
  // what reaches the loss.
  double forward_flops = 0, step_flops = 0;
  std::size_t memory = 0;  // of a step
  std::vector<LayerFacts> layers = {};
};

// All but the memory. Requires: the model is one of the zoo.
ModelFacts facts_of(const model::Model& model);

}  // namespace lockstep::app
