#include "train/checkpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "model/example_groups.h"
#include "model/zoo.h"
#include "store/checkpoint_rules.h"

namespace lockstep::train {
namespace {

// In a file the name of a state stands before its parameter's: velocity:conv1.weight.
std::string name_in_file(const model::StateTensor& tensor, const std::vector<model::StateTensor>& all) {
  switch (tensor.kind) {
    case model::StateTensor::Kind::parameter:
      return tensor.name;
    case model::StateTensor::Kind::optimizer_state:
      break;
  }
  return fmt::format("{}:{}", tensor.state, all[tensor.parameter].name);
}

store::ExpectedTensors expected_tensors(const model::Model& model, arithmetic::UpdateKind rule) {
  const std::vector<model::StateTensor> tensors = model::state_tensors(model, rule);
  store::ExpectedTensors expected{
      .of = fmt::format("model {} with update rule {}", model.name, arithmetic::update_rule(rule).name)};
  for (const model::StateTensor& tensor : tensors)
    expected.tensors.push_back({name_in_file(tensor, tensors), tensor.shape});
  return expected;
}

std::vector<store::Tensor> to_file(const run::State& state, const model::Model& model,
                                   arithmetic::UpdateKind rule) {
  const std::vector<model::StateTensor> tensors = model::state_tensors(model, rule);
  check(std::ranges::equal(state, tensors, {}, &run::NamedTensor::name, &model::StateTensor::name),
        "a state of {} tensors where model {} with update rule {} has {}", state.size(), model.name,
        arithmetic::update_rule(rule).name, tensors.size());
  std::vector<store::Tensor> stored;
  for (std::size_t i = 0; i < state.size(); ++i)
    stored.push_back({name_in_file(tensors[i], tensors), tensors[i].shape, state[i].numbers});
  return stored;
}

run::State from_file(const std::vector<store::Tensor>& stored, const model::Model& model,
                     arithmetic::UpdateKind rule, std::string_view file) {
  std::vector<store::TensorShape> shapes;
  shapes.reserve(stored.size());
  for (const store::Tensor& tensor : stored) shapes.push_back({tensor.name, tensor.shape});
  store::check_tensors(shapes, expected_tensors(model, rule), file);
  run::State state;
  for (const model::StateTensor& tensor : model::state_tensors(model, rule))
    state.push_back({tensor.name, stored[state.size()].values});
  return state;
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
          .tensors = to_file(state.tensors, model, config.job.optimizer.kind)};
}

TrainState state_of(const store::Checkpoint& checkpoint, const model::Model& model,
                    const store::DataSizes& sizes, std::string_view file) {
  store::check_data(checkpoint, sizes, Fault::data, file);
  return {.tensors = from_file(checkpoint.tensors, model, checkpoint.config.job.optimizer.kind, file),
          .step = checkpoint.step,
          .epoch = checkpoint.epoch,
          .step_in_epoch = checkpoint.step_in_epoch,
          .loss_sum = checkpoint.loss_sum,
          .seconds = checkpoint.seconds,
          .epochs = checkpoint.epochs};
}

store::ExpectedTensors checkpoint_tensors(const store::JobConfig& config) {
  return tensors_of(model_of(config), config);
}

store::ExpectedTensors tensors_of(const model::Model& model, const store::JobConfig& config) {
  return expected_tensors(model, config.optimizer.kind);
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
  if (!config.layers.empty())
    throw Error(
        Fault::usage,
        "model '{}' is none of Lockstep's own: only the program that trained it, through the library, has it",
        config.model);
  const store::DataSizes& data = config.data_sizes;
  model::Model model =
      data.known() ? model::zoo_model(config.model, {{data.channels, data.height, data.width}, data.classes})
                   : model::zoo_model(config.model);
  model.convolution = config.convolution;
  if (config.ghost != 0) model::set_ghost(model, config.ghost);
  return model;
}

Job job_of(const store::JobConfig& config, std::size_t examples) {
  return {.model = model_of(config),
          .seed = config.seed,
          .batch = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(config.batch), examples)),
          .learning_rate = config.lr,
          .epochs = config.epochs,
          .optimizer = config.optimizer,
          .schedule = config.schedule};
}

}  // namespace lockstep::train
