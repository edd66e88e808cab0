#include "train/checkpoint.h"

#include <algorithm>

#include "base/error.h"
#include "model/zoo.h"
#include "store/checkpoint_rules.h"

namespace lockstep::train {
namespace {

std::vector<store::Tensor> tensors_of(const Weights& numbers, const model::Model& model) {
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  std::vector<store::Tensor> tensors;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    tensors.push_back({parameters[i].name, parameters[i].shape, numbers[i]});
  return tensors;
}

Weights numbers_of(const std::vector<store::Tensor>& tensors, const model::Model& model,
                   std::string_view file) {
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  if (tensors.size() != parameters.size())
    throw Error(Fault::data, "{}: expected the {} parameters of model {}, found {} tensors", file,
                parameters.size(), model.name, tensors.size());
  Weights numbers;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (tensors[i].name != parameters[i].name || tensors[i].shape != parameters[i].shape)
      throw Error(Fault::data, "{}: tensor {:?} does not belong to model {}, where {:?} stands", file,
                  tensors[i].name, model.name, parameters[i].name);
    numbers.push_back(tensors[i].values);
  }
  return numbers;
}

}  // namespace

store::Checkpoint checkpoint_of(const TrainState& state, const model::Model& model,
                                const store::RunConfig& config) {
  return {.config = config,
          .step = state.step,
          .epoch = state.epoch,
          .step_in_epoch = state.step_in_epoch,
          .loss_sum = state.loss_sum,
          .seconds = state.seconds,
          .epochs = state.epochs,
          .parameters = tensors_of(state.weights, model),
          .velocity = tensors_of(state.velocity, model)};
}

TrainState state_of(const store::Checkpoint& checkpoint, const model::Model& model,
                    const store::DataSizes& sizes, std::string_view file) {
  store::check_data(checkpoint, sizes, Fault::data, file);
  TrainState state{.weights = numbers_of(checkpoint.parameters, model, file),
                   .velocity = {},
                   .step = checkpoint.step,
                   .epoch = checkpoint.epoch,
                   .step_in_epoch = checkpoint.step_in_epoch,
                   .loss_sum = checkpoint.loss_sum,
                   .seconds = checkpoint.seconds,
                   .epochs = checkpoint.epochs};
  if (!checkpoint.velocity.empty()) state.velocity = numbers_of(checkpoint.velocity, model, file);
  if (checkpoint.velocity.empty() != (checkpoint.config.job.momentum == 0))
    throw Error(Fault::data, "{}: expected {} for momentum {}, found the opposite", file,
                checkpoint.config.job.momentum == 0 ? "no velocity" : "a velocity",
                checkpoint.config.job.momentum);
  return state;
}

std::vector<store::TensorShape> parameter_shapes(const store::JobConfig& config) {
  std::vector<store::TensorShape> shapes;
  for (const model::Parameter& parameter : model::parameters_of(model_of(config)))
    shapes.push_back({parameter.name, parameter.shape});
  return shapes;
}

store::DataSizes sizes_of(const data::Split& data) {
  return {.train = static_cast<std::int64_t>(data.train.size()),
          .test = static_cast<std::int64_t>(data.test.size()),
          .channels = data.train.channels,
          .height = data.train.height,
          .width = data.train.width,
          .classes = data.train.classes};
}

model::Model model_of(const store::JobConfig& config) {
  model::Model model = model::zoo_model(config.model);
  model.convolution = config.convolution;
  return model;
}

Job job_of(const store::JobConfig& config, std::size_t examples) {
  return {.model = model_of(config),
          .seed = config.seed,
          .batch = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(config.batch), examples)),
          .learning_rate = config.lr,
          .epochs = config.epochs,
          .momentum = config.momentum};
}

}  // namespace lockstep::train
