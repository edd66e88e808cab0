// What batch norm does over packs; norm_elements.cpp has what it does once a step.
#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {
namespace {

NormShape norm_shape(const PackLaunches& launches, const program::Shape& shape, program::PackGroups groups,
                     bool relu) {
  const PackGroup& group = launches.group;
  return {.channels = shape.channels,
          .positions = positions(shape),
          .packs = group.packs,
          .examples = group.examples,
          .first = group.number,
          .group_packs = groups.packs,
          .relu = relu ? 1 : 0,
          .adds = 0};
}

// Work-items of kernels that sum a channel of a pack, and of those that compute each element by itself.
std::size_t channel_items(const NormShape& s) { return product({s.packs, s.channels}); }
std::size_t element_items(const NormShape& s, const Style& style) {
  return product({s.packs, s.channels, style.pack_per_item ? 1 : s.positions});
}

}  // namespace

void PackLaunches::operator()(const program::NormStatistics& norm) const {
  const NormShape s = norm_shape(*this, norm.shape, {}, false);
  context.items("norm_statistics", {in(0), out(0), s}, channel_items(s));
}

void PackLaunches::operator()(const program::NormForward& norm) const {
  NormShape s = norm_shape(*this, norm.shape, norm.groups, norm.relu);
  s.adds = instruction.inputs.size() > 2 ? 1 : 0;
  context.items("norm_forward", {in(0), in(1), in(s.adds == 1 ? 2 : 0), out(0), s},
                element_items(s, context.style));
}

void PackLaunches::operator()(const program::NormSums& norm) const {
  const NormShape s = norm_shape(*this, norm.shape, norm.groups, norm.relu);
  context.items("norm_sums", {in(0), in(1), in(2), out(0), sums(1), sums(2), s}, channel_items(s));
}

void PackLaunches::operator()(const program::NormInputGradient& norm) const {
  const NormShape s = norm_shape(*this, norm.shape, norm.groups, norm.relu);
  context.items("norm_input_gradient", {in(0), in(1), in(2), in(3), out(0), s},
                element_items(s, context.style));
}

}  // namespace lockstep::gpu
