// The models that ship with Lockstep, by name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace lockstep::model {

// The book's LeNet: 1x28x28 to 10 classes, 129,068 parameters.
Model lenet();

// The book's multilayer perceptron: 784 - 256 - 10.
Model mlp();

// A residual network of 16, 32 and 64 channels with batch norm: 1x28x28 to 10 classes, 77,658 trained
// numbers. A shortcut that changes the shape is a convolution without batch norm.
Model resnet8();

std::vector<std::string> zoo_names();

// Throws Error(usage) with the nearest name when there is no such model.
Model zoo_model(std::string_view name);

}  // namespace lockstep::model
