// Tensors that training changes. Element order and names are PyTorch's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/initial_values.h"

namespace lockstep::model {

enum class ParameterRole {
  weight,  // of a convolution or linear layer
  bias,
  scale,         // of a batch norm; its name ends in .weight
  running_mean,  // of a batch norm; training changes the running statistics, but no gradient does
  running_var,
};

// A parameter as its kind of layer states it.
struct ParameterSpec {
  ParameterRole role = ParameterRole::weight;
  std::vector<std::int64_t> shape;  // (out, in of a group, height, width), (out, in) or (out)
  Fans fans;
  std::optional<InitialValues> initial;  // nothing: the model's usual ones
};

// Of a layer with a weight, in words: what its parameters start with, "weight usual, no bias".
std::string words_of(const std::optional<InitialValues>& weight, bool has_bias,
                     const std::optional<InitialValues>& bias);

// A parameter of a model.
struct Parameter {
  using Role = ParameterRole;
  std::string name;  // conv1.weight
  std::vector<std::int64_t> shape;
  int layer = 0;  // index in Model::layers
  Role role = Role::weight;
  Fans fans = {};
  InitialValues initial = Constant{};

  std::size_t elements() const;
  // Does weight decay apply to it?
  bool decays() const { return role == Role::weight; }
  // Does the update rule change it, by a gradient?
  bool trained() const { return role != Role::running_mean && role != Role::running_var; }
};

// The parameter's initial numbers. They depend on the seed and the parameter's name alone.
// Requires: values.size() is parameter.elements(), in PyTorch's element order.
void fill_initial(const Parameter& parameter, std::uint64_t seed, std::span<float> values);

}  // namespace lockstep::model
