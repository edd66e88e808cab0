#include "model/sliding_window.h"

#include <algorithm>
#include <climits>

#include "base/error.h"

namespace lockstep::model {
namespace {

// A flat input is an image of 1x1 to a window.
std::string image_text(const LayerInputs& in) {
  const Shape& shape = in.shape();
  return fmt::format("{}x{}x{} from {}", shape.channels, shape.height, shape.width, in.first().from);
}

void check_padded_elements(const LayerInputs& in, const Extent& padding) {
  const Shape& shape = in.shape();
  const long long padded = (shape.height + 2LL * padding.height) * (shape.width + 2LL * padding.width);
  if (padded <= kMostElements / shape.channels) return;
  throw Error(Fault::usage,
              "layer {} pads its input {} by {}; an example may have at most {} elements, padding included",
              in.layer, to_string(in), to_string(padding), kMostElements);
}

}  // namespace

std::string words_of(const SlidingWindow& sliding) {
  return fmt::format("{}, stride {}, padding {}", to_string(sliding.window), to_string(sliding.stride),
                     to_string(sliding.padding));
}

Extent windows_inside(const LayerInputs& in, const SlidingWindow& sliding) {
  check_size(in, sliding.name, sliding.window, 1);
  check_size(in, "stride", sliding.stride, 1);
  check_size(in, "padding", sliding.padding, 0);
  check_padded_elements(in, sliding.padding);
  const auto count = [&](int size, int window, int stride, int padding) {
    const long long free_places = size + 2LL * padding - window;
    if (free_places < 0) {
      throw Error(Fault::usage,
                  "layer {} has a {} of {} that is larger than its input {} with padding {}; "
                  "make it smaller or pad more",
                  in.layer, sliding.name, to_string(sliding.window), image_text(in),
                  to_string(sliding.padding));
    }
    // What is too large is refused with the layer's whole output.
    return static_cast<int>(std::min<long long>(free_places / stride + 1, INT_MAX));
  };
  const Shape& shape = in.shape();
  return {count(shape.height, sliding.window.height, sliding.stride.height, sliding.padding.height),
          count(shape.width, sliding.window.width, sliding.stride.width, sliding.padding.width)};
}

Extent pool_windows_inside(const LayerInputs& in, const SlidingWindow& sliding) {
  const Extent out = windows_inside(in, sliding);
  if (sliding.padding.height >= sliding.window.height || sliding.padding.width >= sliding.window.width) {
    throw Error(Fault::usage,
                "layer {} has a padding of {} and a window of {} on its input {}; the padding must be "
                "smaller than the window, or a window would see only padding",
                in.layer, to_string(sliding.padding), to_string(sliding.window), to_string(in));
  }
  return out;
}

}  // namespace lockstep::model
