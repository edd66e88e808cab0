// A model's weights in a safetensors file, of Lockstep or of another program.
#pragma once
#include "model/model.h"
#include "store/tensor_file_reader.h"
#include "train/job.h"

namespace lockstep::train {

// Where in a file's metadata the hash of its weights stands: hash_of() in 32 hex digits.
constexpr const char* kWeightsHashKey = "weights";

struct StoredWeights {
  Weights weights;       // in model order, whatever their order in the file
  bool vouched = false;  // the file holds their hash; false for files of other programs, which have none
};

// Throws Error(data) naming file, tensor, what was expected and found unless the file holds every parameter
// once, of its shape, and nothing else but counters of its batch norms (if the reader skips such), the hash
// in it is that of the weights, and every number is finite. Memory is taken for the values only once the
// shapes are right.
StoredWeights read_weights(store::TensorFileReader& reader, const model::Model& model);

}  // namespace lockstep::train
