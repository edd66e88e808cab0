// Shape inference: one overload per kind of layer says what it takes and what it gives.
#include <climits>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/model.h"

namespace lockstep::model {
namespace {

// A pack of such examples is a gigabyte, and an offset in bytes inside it is an int.
constexpr int kMostElements = 1 << 24;

std::string to_string(const Extent& extent) { return fmt::format("{}x{}", extent.height, extent.width); }

// A layer in its place: what an error message must name.
struct Place {
  std::string_view layer, source;  // source: the layer before, or "the input"
  Shape in;
};

void check_size(const Place& place, std::string_view what, const Extent& extent, int least) {
  if (extent.height >= least && extent.width >= least) return;
  throw Error(Fault::usage,
              "layer {} has a {} of {} on its input {} from {}; it must be at least {} both ways",
              place.layer, what, to_string(extent), to_string(place.in), place.source, least);
}

void check_count(const Place& place, std::string_view what, int count) {
  if (count >= 1) return;
  throw Error(Fault::usage, "layer {} has {} {} on its input {} from {}; there must be at least 1",
              place.layer, count, what, to_string(place.in), place.source);
}

// How many windows lie wholly inside the padded image; one that overhangs does not exist.
struct Sliding {
  std::string_view window_name;
  Extent window, stride, padding;
};

Extent slide(const Place& place, const Sliding& sliding) {
  check_size(place, sliding.window_name, sliding.window, 1);
  check_size(place, "stride", sliding.stride, 1);
  check_size(place, "padding", sliding.padding, 0);
  const long long padded =
      (place.in.height + 2LL * sliding.padding.height) * (place.in.width + 2LL * sliding.padding.width);
  if (padded > kMostElements / place.in.channels) {
    throw Error(
        Fault::usage,
        "layer {} pads its input {} from {} by {}; an example may have at most {} elements, padding included",
        place.layer, to_string(place.in), place.source, to_string(sliding.padding), kMostElements);
  }
  const auto count = [&](int size, int window, int stride, int padding) {
    const long long free_places = size + 2LL * padding - window;
    if (free_places < 0) {
      throw Error(Fault::usage,
                  "layer {} has a {} of {} that is larger than its input {} from {} with padding {}; "
                  "make it smaller or pad more",
                  place.layer, sliding.window_name, to_string(sliding.window), to_string(place.in),
                  place.source, to_string(sliding.padding));
    }
    const long long places = free_places / stride + 1;
    return static_cast<int>(places < INT_MAX ? places : INT_MAX);  // too large is check_elements' business
  };
  return {count(place.in.height, sliding.window.height, sliding.stride.height, sliding.padding.height),
          count(place.in.width, sliding.window.width, sliding.stride.width, sliding.padding.width)};
}

Shape give(const Place& place, const Conv2d& conv) {
  check_count(place, "output channels", conv.out_channels);
  const Extent out = slide(place, {"kernel", conv.kernel, conv.stride, conv.padding});
  return {conv.out_channels, out.height, out.width};
}

Shape give(const Place& place, const Linear& linear) {
  check_count(place, "output units", linear.out_units);
  if (!place.in.flat()) {
    throw Error(Fault::usage, "layer {} takes a flat input, got {} from {}; put a flatten before it",
                place.layer, to_string(place.in), place.source);
  }
  return {linear.out_units, 1, 1};
}

Shape give(const Place& place, const Relu&) { return place.in; }

template <class Pool>  // AvgPool, MaxPool
Shape give_pool(const Place& place, const Pool& pool) {
  const Extent out = slide(place, {"window", pool.window, pool.stride, pool.padding});
  if (pool.padding.height >= pool.window.height || pool.padding.width >= pool.window.width) {
    throw Error(
        Fault::usage,
        "layer {} has a padding of {} and a window of {} on its input {} from {}; the padding must be "
        "smaller than the window, or a window would see only padding",
        place.layer, to_string(pool.padding), to_string(pool.window), to_string(place.in), place.source);
  }
  return {place.in.channels, out.height, out.width};
}
Shape give(const Place& place, const AvgPool& pool) { return give_pool(place, pool); }
Shape give(const Place& place, const MaxPool& pool) { return give_pool(place, pool); }

Shape give(const Place& place, const Flatten&) { return {place.in.elements(), 1, 1}; }

void check_elements(const Place& place, const Shape& out) {
  const long long plane = static_cast<long long>(out.height) * out.width;
  if (plane <= kMostElements / out.channels) return;
  throw Error(Fault::usage, "layer {} gives {} from {} of {}; an example may have at most {} elements",
              place.layer, to_string(out), to_string(place.in), place.source, kMostElements);
}

void check_names(const Model& model) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string& name = model.layers[i].name;
    if (name.empty()) {
      throw Error(Fault::usage, "model {}: layer number {} has no name; give it one", model.name, i + 1);
    }
    if (!names.insert(name).second) {
      throw Error(Fault::usage, "model {}: two layers are named {}; layer names must differ", model.name,
                  name);
    }
  }
}

void check_input(const Model& model) {
  const Shape& in = model.input;
  const bool positive = in.channels >= 1 && in.height >= 1 && in.width >= 1;
  if (!positive || static_cast<long long>(in.height) * in.width > kMostElements / in.channels) {
    throw Error(Fault::usage,
                "model {} has an input of {}x{}x{}; sizes must be at least 1 and at most {} elements",
                model.name, in.channels, in.height, in.width, kMostElements);
  }
  if (model.layers.empty()) {
    throw Error(Fault::usage, "model {} has no layers; the loss needs at least one", model.name);
  }
}

}  // namespace

std::vector<Shape> infer_shapes(const Model& model) {
  check_input(model);
  check_names(model);
  std::vector<Shape> shapes{model.input};
  std::string_view source = "the input";
  for (const Layer& layer : model.layers) {
    const Place place{layer.name, source, shapes.back()};
    const Shape out = std::visit([&](const auto& kind) { return give(place, kind); }, layer.kind);
    check_elements(place, out);
    shapes.push_back(out);
    source = layer.name;
  }
  if (!shapes.back().flat()) {
    throw Error(
        Fault::usage,
        "layer {} is the last and gives {}, but the loss takes a flat vector of classes; put a flatten "
        "and a linear after it",
        model.layers.back().name, to_string(shapes.back()));
  }
  return shapes;
}

}  // namespace lockstep::model
