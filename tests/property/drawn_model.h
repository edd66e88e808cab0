// A model grows block by block and knows what it costs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "property/case.h"

namespace lockstep::property {

class DrawnModel {
 public:
  DrawnModel(const model::Shape& input, arithmetic::ConvolutionRule rule);

  void add(const Block& block);
  void linear(const model::Linear& kind);
  void norm(int drawn);  // as Block::norm

  const model::Model& model() const { return model_; }
  std::int64_t multiplications() const { return multiplications_; }  // of one example forward

 private:
  // What a layer gives, or the input.
  struct Value {
    std::string name;
    model::Shape shape;
  };

  void layer(const char* kind, const model::LayerKind& layer, const std::vector<Value>& inputs);
  void layer(const char* kind, const model::LayerKind& kind_of_layer) { layer(kind, kind_of_layer, {last_}); }
  // From `last_`: the block's convolution, or its linear layer, its norm, its relu and its dropout.
  void multiply(const Block& block);
  void convolution(const Block& block);
  void pool(const Block& block);
  void skip(const Block& block, const Value& start);
  void residual(const Block& block);

  model::Model model_;
  std::vector<Value> values_;
  Value last_;
  bool flattened_ = false;
  std::int64_t multiplications_ = 0;
};

}  // namespace lockstep::property
