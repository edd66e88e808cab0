#include <chrono>

#include <fmt/format.h>
#include <lockstep/book.h>
#include <lockstep/train_options.h>

#include "api/book_devices.h"
#include "api/convert.h"
#include "api/dataset_inside.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "train/evaluate.h"
#include "train/minibatches.h"

namespace lockstep {
inline namespace api {
namespace book {
namespace {

using Clock = std::chrono::steady_clock;

struct Batch {
  Tensor X, y;
};

Batch load_batch(const data::Dataset& set, std::span<const std::uint32_t> examples) {
  const int rows = static_cast<int>(examples.size());
  Batch batch{{rows, static_cast<int>(set.example_bytes())}, {rows, 1}};
  batch.X.values.reserve(examples.size() * set.example_bytes());
  for (const std::uint32_t example : examples) {
    for (const std::uint8_t byte : set.example(example))
      batch.X.values.push_back(static_cast<float>(byte) / 255.0f);
    batch.y.values.push_back(static_cast<float>(set.labels[example]));
  }
  return batch;
}

}  // namespace

Trained train(const TrainOptions& options) {
  if (options.batch_size < 1 || options.num_epochs < 1)
    throw Error(Fault::usage, "train: expected a batch_size and num_epochs of at least 1, found {} and {}",
                options.batch_size, options.num_epochs);
  const FloatEnvironment environment;
  const Dataset dataset = fashion_mnist(options.data_directory);
  const data::Split& data = dataset.inside().split;
  Devices devices(fmt::format("{}", options.num_devices));
  devices.inside().model.convolution = to_inside(options.convolution);
  std::vector<Params> device_params;
  for (const std::string& device : devices.names())
    device_params.push_back(get_params(init_params(), device));
  train::Minibatches minibatches(0, data.train.size(), options.batch_size);
  train::Evaluator evaluator(*devices.inside().crew, devices.inside().model, data.test);

  TrainResult result{{}, devices.names(), {}};
  Trained trained;
  for (int epoch = 1; epoch <= options.num_epochs; ++epoch) {
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < minibatches.per_epoch(); ++i) {
      const auto [X, y] = load_batch(data.train, minibatches.at(epoch, i));
      train_batch(X, y, device_params, devices, options.lr);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    trained.accuracy.push_back(evaluator.evaluate(weights_of(device_params[0])).accuracy());
    result.epochs.push_back({.epoch = epoch, .accuracy = trained.accuracy.back(), .seconds = seconds});
  }
  trained.line = result.summary();
  trained.weights_hash = to_hex(train::hash_of(weights_of(device_params[0])));
  return trained;
}

}  // namespace book
}  // namespace api
}  // namespace lockstep
