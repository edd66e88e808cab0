// How good a set of weights is on a set of examples.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "train/job.h"

namespace lockstep::train {

struct Evaluation {
  float loss = 0;                         // mean over all examples
  std::vector<std::int64_t> seen, right;  // by class

  std::int64_t examples() const;
  std::int64_t correct() const;
  double accuracy() const { return static_cast<double>(correct()) / static_cast<double>(examples()); }
};

class Evaluator {
 public:
  // Requires: crew and dataset outlive it.
  // `shares`: packs go to devices in these proportions; empty: equal shares.
  Evaluator(run::Crew& crew, const model::Model& model, const data::Dataset& dataset,
            const std::vector<double>& shares = {});

  Evaluation evaluate(const Weights& weights);

 private:
  const data::Dataset& dataset_;
  std::vector<std::uint32_t> order_;  // the dataset's own
  run::Runner runner_;
};

}  // namespace lockstep::train
