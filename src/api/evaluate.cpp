#include "train/evaluate.h"

#include <lockstep/evaluate.h>

#include "api/convert.h"
#include "api/dataset_inside.h"
#include "api/devices.h"
#include "api/drive.h"

namespace lockstep {
inline namespace api {

Evaluation evaluate(const EvaluateOptions& options) {
  expect_timeout(options.timeout);
  const model::Model model = to_inside(options.model);
  train::check_fits(model, options.data.inside().split.test);
  const auto work = [model, weights = to_inside(options.weights, model), data = options.data,
                     devices = options.devices, threads = options.threads,
                     timeout = options.timeout](Caller& caller) -> Evaluation {
    const std::unique_ptr<run::Crew> crew = make_crew(devices, threads, leaving(caller, timeout));
    const train::Evaluation found =
        train::Evaluator(*crew, model, data.inside().split.test).evaluate(weights);
    return {found.accuracy(), found.loss, found.seen, found.right, data.class_names()};
  };
  return drive_to<Evaluation>(work);
}

}  // namespace api
}  // namespace lockstep
