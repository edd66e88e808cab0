// The models that ship with Lockstep, by name. Each is made for the pictures that it gets: their channels,
// sizes and classes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace lockstep::model {

// What a network takes and tells apart.
struct Pictures {
  Shape shape{1, 28, 28};
  int classes = 10;
};

// Numbers of parameters are those of the usual pictures, which the declarations name.

// The book's LeNet, 129,068 parameters.
Model lenet(const Pictures& pictures = {});

// The book's multilayer perceptron: 784 - 256 - 10.
Model mlp(const Pictures& pictures = {});

// A residual network of 16, 32 and 64 channels with batch norm, 77,658 trained numbers. A shortcut that
// changes the shape is a convolution without batch norm.
Model resnet8(const Pictures& pictures = {});

// The ResNet-18 of the book's section on training on several GPUs with a framework, 11,175,818 trained
// numbers. Its layers, and so its tensors, are named as in the book's PyTorch network.
Model resnet18(const Pictures& pictures = {});

// AlexNet with the two groups of the original in its second, fourth and fifth convolution; without local
// response normalisation. The first convolution has a padding of 2, so that 64x64 suffices.
Model alexnet(const Pictures& pictures = {{3, 64, 64}});

// The book's VGG-11.
Model vgg11(const Pictures& pictures = {{3, 32, 32}});

std::vector<std::string> zoo_names();

// "lenet (default), mlp or resnet8": for people, from the table.
std::string zoo_text();

// For the usual pictures. Throws Error(usage) with the nearest name when there is no such model.
Model zoo_model(std::string_view name);

// For these pictures. Throws Error(usage) as above; and one that says from which size on the model takes
// pictures, and names the layer and the shapes that do not fit, if these are too small.
Model zoo_model(std::string_view name, const Pictures& pictures);

// The smallest height and width of pictures that the model takes.
int least_side(std::string_view name);

}  // namespace lockstep::model
