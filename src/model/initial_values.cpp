#include "model/initial_values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

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

struct InitialWords {
  std::string operator()(const Normal& normal) const { return fmt::format("normal {}", normal.sigma); }
  std::string operator()(const KaimingUniform&) const { return "kaiming"; }
  std::string operator()(const XavierUniform&) const { return "xavier"; }
  std::string operator()(const Constant& constant) const {
    return fmt::format("constant {}", constant.value);
  }
};

std::string values_words(const std::optional<InitialValues>& values) {
  return values ? std::visit(InitialWords{}, *values) : "usual";
}

}  // namespace

void fill_initial(const Parameter& parameter, std::uint64_t seed, std::span<float> values) {
  std::visit(Fill{parameter, seed, values}, parameter.initial);
}

std::string words_of(const std::optional<InitialValues>& weight, bool has_bias,
                     const std::optional<InitialValues>& bias) {
  return fmt::format("weight {}, {}", values_words(weight),
                     has_bias ? fmt::format("bias {}", values_words(bias)) : "no bias");
}

}  // namespace lockstep::model
