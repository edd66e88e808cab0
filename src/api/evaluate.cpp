#include "train/evaluate.h"

#include <lockstep/evaluate.h>

#include "api/convert.h"
#include "api/dataset_inside.h"
#include "api/devices.h"
#include "base/float_environment.h"

namespace lockstep {
inline namespace api {

Evaluation evaluate(const EvaluateOptions& options) {
  const FloatEnvironment environment;
  const model::Model model = to_inside(options.model);
  const data::Dataset& test = options.data.inside().split.test;
  train::check_fits(model, test);
  const run::Weights weights = to_inside(options.weights, model);
  const std::unique_ptr<run::Crew> crew = make_crew(options.devices, options.threads);
  const train::Evaluation found = train::Evaluator(*crew, model, test).evaluate(weights);
  return {found.accuracy(), found.loss, found.seen, found.right, options.data.class_names()};
}

}  // namespace api
}  // namespace lockstep
