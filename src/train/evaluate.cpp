#include "train/evaluate.h"

#include <algorithm>
#include <numeric>

#include "base/float_environment.h"
#include "program/compile.h"

namespace lockstep::train {
namespace {

// Examples that are looked at in one go. The mean loss is the law's tree over each such part, added up in
// double.
constexpr std::size_t kPart = 2048;

// It stands beside a training that needs more.
constexpr double kOfFreeMemory = 0.25;

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

std::int64_t Evaluation::examples() const { return sum(seen); }
std::int64_t Evaluation::correct() const { return sum(right); }

Evaluator::Evaluator(run::Crew& crew, const model::Model& model, const data::Dataset& dataset)
    : Evaluator(crew, model, dataset, Options{}) {}

Evaluator::Evaluator(run::Crew& crew, const model::Model& model, const data::Dataset& dataset,
                     const Options& options)
    : dataset_(dataset),
      order_(dataset.size()),
      runner_(crew,
              run::data_parallel(program::compile_evaluation(model),
                                 run::plan_for(crew, {.shares = options.shares})),
              {.most_examples = static_cast<int>(std::min(kPart, dataset.size())),
               .last_examples = static_cast<int>(dataset.size() % kPart),
               .of_free_memory = kOfFreeMemory,
               .numbered = false,
               .parameters_of = options.training}) {
  check_fits(model, dataset);
  std::iota(order_.begin(), order_.end(), 0U);
}

Evaluation Evaluator::evaluate(const Weights& weights) {
  runner_.upload(weights);
  return evaluate();
}

Evaluation Evaluator::evaluate() {
  const FloatEnvironment environment;
  Evaluation total;
  total.seen.assign(static_cast<std::size_t>(dataset_.classes), 0);
  total.right = total.seen;
  double loss = 0;
  for (std::size_t first = 0; first < order_.size(); first += kPart) {
    const std::span part = std::span(order_).subspan(first, std::min(kPart, order_.size() - first));
    // The weights are prepared once for all parts.
    const run::StepResult result =
        runner_.step({.minibatch = {dataset_.pixels.data(), dataset_.labels.data(), part}},
                     first == 0 ? run::Runner::Parameters::changed : run::Runner::Parameters::prepared);
    loss += static_cast<double>(result.loss) * static_cast<double>(part.size());
    for (std::size_t c = 0; c < total.seen.size(); ++c) {
      total.seen[c] += result.seen[c];
      total.right[c] += result.right[c];
    }
  }
  total.loss = static_cast<float>(loss / static_cast<double>(order_.size()));
  return total;
}

}  // namespace lockstep::train
