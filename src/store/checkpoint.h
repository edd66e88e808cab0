// Where a run stands, so that it can go on from there with the same bits: one logical state, the same for
// all devices. A safetensors file: the tensors by name, all else as text in its metadata, every bit under a
// hash.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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
  std::vector<FinishedEpoch> epochs = {};  // all before `epoch`
  std::vector<Tensor> tensors = {};        // the state of the training, under its names in the file
};

// Writes RUN/checkpoints/step-00000235.safetensors, atomically, and replaces one of the same step. Once it is
// safe on disk, checkpoints of earlier steps are removed, except the newest of them. Checkpoints of later
// steps stay. Throws Error(ours) naming the path; nothing is removed then.
void write_checkpoint(const std::filesystem::path& run, const Checkpoint& checkpoint);

// What a job's checkpoint holds.
struct ExpectedTensors {
  std::vector<TensorShape> tensors = {};  // in the order of Checkpoint::tensors
  std::string of = {};                    // for messages: model mlp with update rule momentum
};
// Throws Error if there is no such job.
using TensorsOf = std::function<ExpectedTensors(const JobConfig&)>;

struct SkippedCheckpoint {
  std::filesystem::path file;
  std::string why;  // a line without its end, which names the file
};

struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::filesystem::path file;
  std::vector<SkippedCheckpoint> skipped;  // newer ones that were read and found damaged, or are no files
};

// The newest of RUN/checkpoints that verifies; files of other names are not looked at. A file that cannot be
// read may be whole, so it is not skipped: CannotRead names it. Throws Error(data) if there is none: names
// the run, and why each was refused.
FoundCheckpoint read_newest_checkpoint(const std::filesystem::path& run, const TensorsOf& tensors_of);

// Gives each of these files a name that no checkpoint has, so that none is read or replaced again and none is
// lost: step-00000235.safetensors.damaged. Returns the new names. Requires: the run is locked. Throws
// Error(ours) naming the file.
std::vector<std::filesystem::path> set_aside(const std::vector<SkippedCheckpoint>& skipped);

// The header is judged before the values are read: its words by checkpoint_rules.h, its tensors by the job.
// Throws Error(data) naming the file, the tensor or key, what was expected and found; CannotRead if the file
// cannot be read.
Checkpoint read_checkpoint(const std::filesystem::path& file, const TensorsOf& tensors_of);

// The same for bytes in memory; `file` is what errors call them. Without `tensors_of` names and shapes of the
// tensors are not looked at.
Checkpoint parse_checkpoint(std::span<const std::byte> bytes, std::string_view file,
                            const TensorsOf& tensors_of = nullptr);

// What is written. Equal checkpoints give equal files.
TensorFile tensor_file_of(const Checkpoint& checkpoint);

}  // namespace lockstep::store
