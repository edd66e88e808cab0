#include "model/initial_values.h"

#include <algorithm>
#include <cmath>

#include "arithmetic/initial_weights.h"
#include "model/parameter.h"

namespace lockstep::model {
namespace {

struct Fill {
  const Parameter& parameter;
  std::uint64_t seed;
  std::span<float> values;

  void operator()(const Normal& normal) const {
    arithmetic::fill_initial(values, parameter.name, seed, static_cast<float>(normal.sigma));
  }
  void operator()(const KaimingUniform&) const { uniform(parameter.fans.in); }
  void operator()(const XavierUniform&) const { uniform(parameter.fans.in + parameter.fans.out); }
  void operator()(const Constant& constant) const { std::ranges::fill(values, constant.value); }

  void uniform(std::int64_t fans) const {
    const double bound = std::sqrt(6.0 / static_cast<double>(fans));
    arithmetic::fill_uniform(values, parameter.name, seed, static_cast<float>(bound));
  }
};

}  // namespace

void fill_initial(const Parameter& parameter, std::uint64_t seed, std::span<float> values) {
  std::visit(Fill{parameter, seed, values}, parameter.initial);
}

}  // namespace lockstep::model
