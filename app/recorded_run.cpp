#include "recorded_run.h"

#include <algorithm>

#include "base/error.h"
#include "base/file_reader.h"
#include "runs/run_config_file.h"
#include "runs/weights_file.h"
#include "store/checkpoint.h"
#include "train/checkpoint.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxHashBytes = std::size_t{1} << 31;  // 7 million steps of LeNet

std::vector<train::TrainState> readable_checkpoints(const fs::path& run, const model::Model& model,
                                                    const store::DataSizes& sizes) {
  std::vector<train::TrainState> states;
  std::error_code none;  // a run may have no checkpoints
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "checkpoints", none)) {
    try {
      states.push_back(train::state_of(store::read_checkpoint(entry.path(), train::checkpoint_tensors), model,
                                       sizes, entry.path().string()));
    } catch (const Error&) {
      // Damaged, or something else: the replay starts from an earlier one.
    }
  }
  std::ranges::sort(states, {}, &train::TrainState::step);
  return states;
}

}  // namespace

StoredRun read_run(const fs::path& run, const store::DataSizes& sizes) {
  StoredRun stored;
  stored.config = runs::read_config(run / runs::kConfigFile);
  stored.config.job.data_sizes = sizes;
  const model::Model model = train::model_of(stored.config.job);
  if (!fs::exists(run / runs::kHashesFile))
    throw Error(Fault::data, "{}: there is no record; was it trained with --no-record?",
                (run / runs::kHashesFile).string());
  const std::vector<std::byte> hashes = read_raw_file(run / runs::kHashesFile, kMaxHashBytes);
  audit::RecordedRun& recorded = stored.recorded;
  recorded.name = run.string();
  recorded.job = train::job_of(stored.config.job, static_cast<std::size_t>(sizes.train));
  recorded.states = readable_checkpoints(run, model, sizes);
  recorded.record = store::parse_hash_record({reinterpret_cast<const char*>(hashes.data()), hashes.size()},
                                             (run / runs::kHashesFile).string());
  if (stored.config.job.load.empty()) recorded.start = train::initial_weights(model, stored.config.job.seed);
  return stored;
}

}  // namespace lockstep::app
