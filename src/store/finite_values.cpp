#include "store/finite_values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace lockstep::store {
namespace {

// The place of element `at` of all, one index for each size of the shape.
std::vector<std::int64_t> place_of(std::int64_t at, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    place[i] = at % shape[i];
    at /= shape[i];
  }
  return place;
}

}  // namespace

void check_finite(const Tensor& tensor, std::string_view file) {
  const auto found = std::ranges::find_if(tensor.values, [](float value) { return !std::isfinite(value); });
  if (found == tensor.values.end()) return;
  throw Error(Fault::data, "{}: tensor {:?}: element [{}]: expected a finite number, found {}", file,
              tensor.name, fmt::join(place_of(found - tensor.values.begin(), tensor.shape), ", "), *found);
}

}  // namespace lockstep::store
