// A residual network of any depth, to measure with.
#pragma once
#include "model/model.h"

namespace lockstep::measure {

// 28x28 pictures and 10 classes; 2 * blocks + 2 layers with weights: convolutions of 16 channels and a linear
// one. Each block adds its input to what its two convolutions give.
model::Model residual_network(int blocks);

}  // namespace lockstep::measure
