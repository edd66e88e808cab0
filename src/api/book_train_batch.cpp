#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <lockstep/book.h>

#include "api/book_devices.h"
#include "api/devices.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "model/zoo.h"
#include "train/training_runner.h"

namespace lockstep {
inline namespace api {
namespace book {
namespace {

constexpr int kPictureBytes = 28 * 28;
constexpr int kClasses = 10;

// The byte that gives `value` when it is divided by 255, or -1.
int byte_of(float value) {
  if (std::isnan(value) || value < 0 || value > 1) return -1;
  const auto byte = static_cast<int>(std::lround(value * 255.0f));
  return static_cast<float>(byte) / 255.0f == value ? byte : -1;
}

struct Bytes {
  std::vector<std::uint8_t> pixels, labels;
};

Bytes bytes_of(const Tensor& X, const Tensor& y) {
  if (X.rows < 1 || X.rows != y.rows || X.columns != kPictureBytes || y.columns != 1 ||
      X.values.size() != static_cast<std::size_t>(X.rows) * kPictureBytes ||
      y.values.size() != static_cast<std::size_t>(y.rows))
    throw Error(Fault::usage, "train_batch: expected X of n x {} and y of n x 1, found {} x {} and {} x {}",
                kPictureBytes, X.rows, X.columns, y.rows, y.columns);
  Bytes bytes;
  for (std::size_t i = 0; i < X.values.size(); ++i) {
    const int byte = byte_of(X.values[i]);
    if (byte < 0)
      throw Error(Fault::usage, "train_batch: X, row {}: expected bytes divided by 255, found {}",
                  i / kPictureBytes, X.values[i]);
    bytes.pixels.push_back(static_cast<std::uint8_t>(byte));
  }
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const float label = y.values[i];
    if (std::trunc(label) != label || label < 0 || label >= kClasses)  // NaN is not its own trunc
      throw Error(Fault::usage, "train_batch: y, row {}: expected a class of 0 to {}, found {}", i,
                  kClasses - 1, label);
    bytes.labels.push_back(static_cast<std::uint8_t>(label));
  }
  return bytes;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void expect_replicas(const std::vector<Params>& device_params, const std::vector<std::string>& devices) {
  if (device_params.size() != devices.size())
    throw Error(Fault::usage, "train_batch: expected params for {} devices, found {}", devices.size(),
                device_params.size());
  for (std::size_t d = 1; d < devices.size(); ++d) {
    if (device_params[d].size() != device_params[0].size() ||
        !std::equal(device_params[d].begin(), device_params[d].end(), device_params[0].begin(),
                    [](const Tensor& a, const Tensor& b) { return same_bits(a.values, b.values); }))
      throw Error(Fault::usage,
                  "train_batch: the params of {} are not those of {}; copy them with get_params", devices[d],
                  devices[0]);
  }
}

run::Runner& runner_for(Devices::Inside& devices, int examples) {
  if (!devices.runner || devices.most_examples < examples) {
    devices.runner = train::make_training_runner(*devices.crew, {.model = devices.model, .batch = examples},
                                                 {}, static_cast<std::size_t>(examples));
    devices.most_examples = examples;
  }
  return *devices.runner;
}

void download(run::Runner& runner, std::vector<Params>& device_params) {
  for (std::size_t d = 0; d < device_params.size(); ++d) {
    const device::Executable& executable = runner.executable(static_cast<int>(d));
    for (std::size_t i = 0; i < device_params[d].size(); ++i) {
      Tensor& param = device_params[d][i];
      param.grad.resize(param.values.size());
      executable.download(runner.program().parameters[i], param.values);
      executable.download(runner.program().gradients[i], param.grad);
    }
  }
}

}  // namespace

run::Weights weights_of(const Params& params) {
  const std::vector<model::Parameter> parameters = model::parameters_of(model::lenet());
  if (params.size() != parameters.size())
    throw Error(Fault::usage, "params: expected {} tensors as init_params gives them, found {}",
                parameters.size(), params.size());
  run::Weights weights;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Size expected = size_of(parameters[i]);
    if (params[i].rows != expected.rows || params[i].columns != expected.columns ||
        params[i].values.size() != parameters[i].elements())
      throw Error(Fault::usage, "params: tensor {}: expected {} x {} numbers, found {} x {} and {} of them",
                  i, expected.rows, expected.columns, params[i].rows, params[i].columns,
                  params[i].values.size());
    weights.push_back(params[i].values);
  }
  return weights;
}

Devices::Devices(std::string_view list) : inside_(std::make_unique<Inside>()) {
  inside_->crew = make_crew(list, 0);
  inside_->names = inside_->crew->names();
}
Devices::~Devices() = default;
Devices::Devices(Devices&&) noexcept = default;
Devices& Devices::operator=(Devices&&) noexcept = default;

const std::vector<std::string>& Devices::names() const { return inside_->names; }

float train_batch(const Tensor& X, const Tensor& y, std::vector<Params>& device_params, Devices& devices,
                  float lr) {
  const FloatEnvironment environment;
  const Bytes bytes = bytes_of(X, y);
  expect_replicas(device_params, devices.names());
  const run::Weights weights = weights_of(device_params[0]);
  std::vector<std::uint32_t> rows(bytes.labels.size());
  std::iota(rows.begin(), rows.end(), 0U);
  run::Runner& runner = runner_for(devices.inside(), X.rows);
  runner.upload(weights);
  const run::StepResult result = runner.step(
      {.minibatch = {bytes.pixels.data(), bytes.labels.data(), rows}, .update = {.learning_rate = lr}});
  if (!result.finite)
    throw Error(Fault::diverged,
                "train_batch: a gradient is not finite; nothing was changed, try a smaller lr");
  download(runner, device_params);
  return result.loss;
}

}  // namespace book
}  // namespace api
}  // namespace lockstep
