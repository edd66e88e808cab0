// The functions of "Training on Multiple GPUs" (Dive into Deep Learning, 13.5) by the book's names, made of
// Lockstep's own parts: examples/book.cpp goes through the section with them. The network is the book's
// LeNet.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/model.h>

namespace lockstep {
inline namespace api {
namespace book {

// rows x columns of floats.
struct Tensor {
  int rows = 0, columns = 0;
  std::vector<float> values = {};
  std::string device = {};       // cpu:0; empty: with the program
  std::vector<float> grad = {};  // as many as values where a gradient is attached
};

// "tensor([[1., 1.]], device='cpu:0')"
std::string to_text(const Tensor& tensor);
std::string to_text(const std::vector<Tensor>& tensors);

// W1, b1, ..., W4, b4: a row an output, as PyTorch's layers have them; a bias is one row.
using Params = std::vector<Tensor>;

// The parameters that `lockstep train` starts with.
Params init_params(std::uint64_t seed = 0);

// A copy for the device, with gradients of zero.
Params get_params(const Params& params, const std::string& device);

// Adds up the tensors and gives every device the sum, through the exchange that training uses. Throws
// Error(usage) unless all have one shape and each a CPU device of its own.
void allreduce(std::vector<Tensor>& data);

// Consecutive rows for each device, as evenly as they go, the larger parts first; the last ones may get none.
std::vector<Tensor> split_and_load(const Tensor& data, const std::vector<std::string>& devices);

struct Shards {
  std::vector<Tensor> X, y;  // one a device
};
// Throws Error(usage) unless X and y have equally many rows.
Shards split_batch(const Tensor& X, const Tensor& y, const std::vector<std::string>& devices);

// Devices that work together.
class Devices {
 public:
  // "2", "3xcpu", "cpu:0,opencl:0". Throws Error(usage), or Error(device) if one may not compute.
  explicit Devices(std::string_view list);
  ~Devices();
  Devices(Devices&&) noexcept;
  Devices& operator=(Devices&&) noexcept;

  const std::vector<std::string>& names() const;

  struct Inside;
  Inside& inside() { return *inside_; }

 private:
  std::unique_ptr<Inside> inside_;
};

// One step of training on every device's params; afterwards their grad is the mean over the minibatch. Each
// device gets whole packs of 16 rows instead of split_batch's equal parts: that is what makes the bits the
// same for every number of devices. X: a picture a row, bytes divided by 255; y: a class a row. Returns the
// mean loss. Throws Error(usage) if shapes or replicas do not fit, Error(diverged) if a gradient is not
// finite; then nothing was changed.
float train_batch(const Tensor& X, const Tensor& y, std::vector<Params>& device_params, Devices& devices,
                  float lr);

struct TrainOptions {
  int num_devices = 1;
  int batch_size = 256;
  float lr = 0.2f;
  int num_epochs = 10;
  std::filesystem::path data_directory = {};    // see fashion_mnist()
  std::optional<Convolution> convolution = {};  // see Model
};

struct Trained {
  std::string line;              // "test acc: 0.83, 1.9 sec/epoch on [cpu:0, cpu:1]"
  std::vector<double> accuracy;  // by epoch
  std::string weights_hash;      // as `lockstep train` prints it
};

// train({.num_devices = 2, .batch_size = 256, .lr = 0.2f}): train_batch over every minibatch, evaluation
// after each epoch.
Trained train(const TrainOptions& options);

}  // namespace book
}  // namespace api
}  // namespace lockstep
