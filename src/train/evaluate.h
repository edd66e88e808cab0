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
  struct Options {
    std::vector<double> shares = {};  // packs go to devices in these proportions; empty: equal shares
    // Not null: evaluates the parameters of this runner, which outlives it, where they lie.
    const run::Runner* training = nullptr;
  };
  // Requires: crew and dataset outlive it.
  Evaluator(run::Crew& crew, const model::Model& model, const data::Dataset& dataset, const Options& options);
  Evaluator(run::Crew& crew, const model::Model& model, const data::Dataset& dataset);

  // Requires: no training's parameters are evaluated.
  Evaluation evaluate(const Weights& weights);
  // The parameters as they are.
  Evaluation evaluate();

 private:
  const data::Dataset& dataset_;
  std::vector<std::uint32_t> order_;  // the dataset's own
  run::Runner runner_;
};

}  // namespace lockstep::train
