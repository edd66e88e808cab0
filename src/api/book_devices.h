// What the book's devices keep from step to step.
#pragma once
#include <lockstep/book.h>

#include "model/zoo.h"
#include "run/runner.h"

namespace lockstep {
inline namespace api {
namespace book {

struct Devices::Inside {
  std::vector<std::string> names = {};
  std::unique_ptr<run::Crew> crew = nullptr;

  model::Model model = model::lenet();

  // Of this model, with room for `most_examples`; null before the first step.
  std::unique_ptr<run::Runner> runner = nullptr;
  int most_examples = 0;
};

struct Size {
  int rows = 0, columns = 0;
};
Size size_of(const model::Parameter& parameter);

// Throws Error(usage) naming the function unless there are rows x columns numbers.
void expect_shape(std::string_view function, const Tensor& tensor);

// Rows and columns as in init_params(). Throws Error(usage) naming the first that differ.
run::Weights weights_of(const Params& params);

}  // namespace book
}  // namespace api
}  // namespace lockstep
