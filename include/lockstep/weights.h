// The numbers of a model, named, shaped and ordered as in PyTorch.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <lockstep/model.h>

namespace lockstep {
inline namespace api {

struct Tensor {
  std::string name = {};                 // conv1.weight
  std::vector<std::int64_t> shape = {};  // (out, in, height, width), (out, in) or (out)
  std::vector<float> values = {};
};

struct Weights {
  std::vector<Tensor> tensors = {};  // in layer order, weight before bias

  // 32 hex digits, as `lockstep train` prints them: equal bits give equal hashes.
  std::string hash() const;
};

// The weights that a training starts with.
Weights initial_weights(const Model& model, std::uint64_t seed);

// As a safetensors file, which is there completely or not at all. Throws Error(usage) if these are not the
// model's weights, Error(ours) naming the path that cannot be written.
void save_weights(const std::filesystem::path& path, const Model& model, const Weights& weights);

// Throws Error(data) naming path and tensor unless the file holds the weights of this model and nothing else,
// all finite and with the hash that save_weights() or `lockstep train` gave them. A file of another program,
// which has no such hash, is taken as it is; `on_warning` is told in one line that nothing vouches for it.
Weights load_weights(const std::filesystem::path& path, const Model& model,
                     const std::function<void(const std::string&)>& on_warning = nullptr);

}  // namespace api
}  // namespace lockstep
