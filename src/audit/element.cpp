#include "audit/element.h"

#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace lockstep::audit {
namespace {

// The layer's name may have dots, too.
std::string layer_of(const std::vector<model::StateTensor>& tensors, std::size_t at) {
  const std::string& parameter = tensors[tensors[at].parameter].name;
  return parameter.substr(0, parameter.rfind('.'));
}

}  // namespace

std::optional<ElementDifference> first_difference(const std::vector<model::StateTensor>& tensors,
                                                  const run::Weights& expected, const run::Weights& found) {
  check(expected.size() == found.size() && found.size() <= tensors.size(), "{} and {} tensors of {}",
        expected.size(), found.size(), tensors.size());
  for (std::size_t p = 0; p < found.size(); ++p) {
    for (std::size_t i = 0; i < expected[p].size(); ++i) {
      if (std::bit_cast<std::uint32_t>(expected[p][i]) == std::bit_cast<std::uint32_t>(found[p][i])) continue;
      ElementDifference difference{layer_of(tensors, p), tensors[p].name, i, {}, expected[p][i], found[p][i]};
      std::size_t rest = i;
      for (std::size_t axis = tensors[p].shape.size(); axis-- > 0;) {
        const auto size = static_cast<std::size_t>(tensors[p].shape[axis]);
        difference.at.insert(difference.at.begin(), static_cast<std::int64_t>(rest % size));
        rest /= size;
      }
      return difference;
    }
  }
  return std::nullopt;
}

std::string to_text(const ElementDifference& d) {
  return fmt::format("layer {}, tensor {}, element [{}]: 0x{:08x} ({}) where 0x{:08x} ({}) is expected",
                     d.layer, d.tensor, fmt::join(d.at, ", "), std::bit_cast<std::uint32_t>(d.found), d.found,
                     std::bit_cast<std::uint32_t>(d.expected), d.expected);
}

}  // namespace lockstep::audit
