// Tensors that training changes. Element order and names are PyTorch's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::model {

enum class ParameterRole { weight, bias };

// As a kind of layer states it.
struct ParameterSpec {
  ParameterRole role = ParameterRole::weight;
  std::vector<std::int64_t> shape;  // (out, in, height, width), (out, in) or (out)
};

// As a model has it.
struct Parameter {
  using Role = ParameterRole;
  std::string name;  // conv1.weight
  std::vector<std::int64_t> shape;
  int layer = 0;  // index in Model::layers
  Role role = Role::weight;

  std::size_t elements() const;
};

}  // namespace lockstep::model
