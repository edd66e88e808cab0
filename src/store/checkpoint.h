// Where a run stands, so that it can go on from there with the same bits: one logical state, whatever devices
// held it. A safetensors file: the tensors by name, all else as text in its metadata, every bit under a hash.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/config_file.h"
#include "store/finished_epoch.h"
#include "store/tensor_file.h"

namespace lockstep::store {

struct Checkpoint {
  RunConfig config = {};                   // of the run that wrote it
  std::int64_t step = 0;                   // steps done since the start of training
  int epoch = 1;                           // the epoch it stands in, from 1
  std::int64_t step_in_epoch = 0;          // steps of it that are done
  double loss_sum = 0;                     // over the examples of these steps
  double seconds = 0;                      // spent on these steps
  std::vector<FinishedEpoch> epochs = {};  // from epoch 1 on, at most to `epoch`
  std::vector<Tensor> parameters = {};     // in model order
  std::vector<Tensor> velocity = {};       // the same names and shapes, or empty without momentum
};

// Writes RUN/checkpoints/step-00000235.safetensors, atomically, and replaces one of the same step. Once it is
// safe on disk all others go but the one of the step next below: those further below, and those of later
// steps, which a run that went back has left. Throws Error(ours) naming the path; the others stay then.
void write_checkpoint(const std::filesystem::path& run, const Checkpoint& checkpoint);

struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::filesystem::path file;
  std::vector<std::string> skipped;  // newer ones that were refused: why, a line each without its end
};

// The newest of RUN/checkpoints that verifies; files of other names are not looked at.
// Throws Error(data) if there is none: names the run, and why each was refused.
FoundCheckpoint read_newest_checkpoint(const std::filesystem::path& run);

// Throws Error(data) naming the file, the tensor or key, what was expected and found.
Checkpoint read_checkpoint(const std::filesystem::path& file);

// The same for bytes in memory; `file` is what errors call them.
Checkpoint parse_checkpoint(std::span<const std::byte> bytes, std::string_view file);

// What is written. Equal checkpoints give equal files.
TensorFile tensor_file_of(const Checkpoint& checkpoint);

}  // namespace lockstep::store
