// Naive twin of dropout, element by element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::reference {

// What the words of a training step depend on, beside the layer.
struct Draws {
  std::uint64_t seed = 0;
  int epoch = 0;
  std::vector<std::uint32_t> examples = {};  // of the minibatch: their numbers in the dataset
};

struct DropoutLayer {
  std::string_view name;
  double p = 0;
  std::size_t elements = 0;  // of an example
};

// Is an element of an example of the minibatch kept?
bool dropout_keeps(const DropoutLayer& layer, const Draws& draws, std::size_t example, std::size_t element);

// x: [example][element]. Forwards of the input, backwards of the gradient: both draw the same words.
std::vector<float> dropout(const DropoutLayer& layer, const Draws& draws, std::span<const float> x);

}  // namespace lockstep::reference
