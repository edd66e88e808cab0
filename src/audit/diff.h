// Where two runs part: step and tensor from their recorded hashes, the element by replaying both.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/element.h"
#include "store/hash_record.h"
#include "train/stepper.h"

namespace lockstep::audit {

// One of the two runs.
struct RecordedRun {
  std::string name;  // for messages
  train::Job job;
  std::optional<train::Weights> start;    // what it began with, if that is known
  std::vector<train::TrainState> states;  // its checkpoints that can be read
  store::HashRecord record;
};

struct DiffResult {
  std::int64_t steps = 0;               // that both have
  std::int64_t not_compared = 0;        // that a record lacks where both have begun and neither has ended
  std::int64_t last_a = 0, last_b = 0;  // the last step of each
  std::optional<store::RecordDifference> parting;

  // A run that, replayed, does not give what it recorded. Then there is no element to show.
  struct Unreproduced {
    std::string run;
    store::RecordDifference at;
  };
  std::vector<Unreproduced> unreproduced;
  std::optional<ElementDifference> element;  // expected: the first run's
};

// Replays with make_crew on `data`, which both runs were trained on. Throws Error(usage) if the records have
// no tensors or steps in common.
DiffResult diff(const RecordedRun& a, const RecordedRun& b, const data::Dataset& data,
                const std::function<std::unique_ptr<run::Crew>()>& make_crew);

}  // namespace lockstep::audit
