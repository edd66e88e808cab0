// A training's state as a checkpoint, and back.
#pragma once
#include <string_view>

#include "store/checkpoint.h"
#include "train/trainer.h"

namespace lockstep::train {

store::Checkpoint checkpoint_of(const TrainState& state, const model::Model& model,
                                const store::RunConfig& config);

// Throws Error(data) naming `file` and the tensor or key if it is not one of this model's trainings, by the
// config's update rule, on data of these sizes.
TrainState state_of(const store::Checkpoint& checkpoint, const model::Model& model,
                    const store::DataSizes& sizes, std::string_view file);

// For store::read_checkpoint(). Throws Error(usage) if there is no such model.
store::ExpectedTensors checkpoint_tensors(const store::JobConfig& config);
// The same for a model that the caller has.
store::ExpectedTensors tensors_of(const model::Model& model, const store::JobConfig& config);

store::DataSizes sizes_of(const data::Split& data);

// The model of a config, with its rule for convolutions and its ghost, for the pictures of the config's data,
// or for usual ones where the config does not know its data. Throws Error(usage) with the nearest name, if
// the model does not take such pictures, is not Lockstep's own or has no batch norm for a ghost.
model::Model model_of(const store::JobConfig& config);

// What a config says about the bits.
Job job_of(const store::JobConfig& config, std::size_t examples);

}  // namespace lockstep::train
