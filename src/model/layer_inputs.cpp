#include "model/layer_inputs.h"

#include "base/error.h"

namespace lockstep::model {

std::string to_string(const Extent& extent) { return fmt::format("{}x{}", extent.height, extent.width); }

std::string to_string(const LayerInputs& in) {
  std::string text;
  for (const LayerInput& input : in.inputs) {
    if (!text.empty()) text += " and ";
    text += fmt::format("{} from {}", to_string(input.shape), input.from);
  }
  return text;
}

void check_count(const LayerInputs& in, std::string_view what, int count) {
  if (count >= 1) return;
  throw Error(Fault::usage, "layer {} has {} {} on its input {}; there must be at least 1", in.layer, count,
              what, to_string(in));
}

void check_size(const LayerInputs& in, std::string_view what, const Extent& extent, int least) {
  if (extent.height >= least && extent.width >= least) return;
  throw Error(Fault::usage, "layer {} has a {} of {} on its input {}; it must be at least {} both ways",
              in.layer, what, to_string(extent), to_string(in), least);
}

}  // namespace lockstep::model
