// What batch norm does over packs; norm_elements.cpp has what it does once a step.
#include "gpu/launches/define_launch.h"

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
          .relu = relu ? 1 : 0};
}

// Work-items of kernels that sum a channel of a pack, and of those that compute each element by itself.
std::size_t channel_items(const NormShape& s) { return product({s.packs, s.channels}); }
std::size_t element_items(const NormShape& s, const Style& style) {
  return product({s.packs, s.channels, style.pack_per_item ? 1 : s.positions});
}

}  // namespace

void launch(const PackLaunches& launches, const program::NormStatistics& norm) {
  const NormShape s = norm_shape(launches, norm.shape, {}, false);
  launches.context.items("norm_statistics", {launches.in(0), launches.out(0), s}, channel_items(s));
}

void launch(const PackLaunches& launches, const program::NormForward& norm) {
  const NormShape s = norm_shape(launches, norm.shape, norm.groups, norm.relu);
  launches.context.items("norm_forward", {launches.in(0), launches.in(1), launches.out(0), s},
                         element_items(s, launches.context.style));
}

void launch(const PackLaunches& launches, const program::NormSums& norm) {
  const NormShape s = norm_shape(launches, norm.shape, norm.groups, norm.relu);
  launches.context.items(
      "norm_sums",
      {launches.in(0), launches.in(1), launches.in(2), norm.relu ? launches.in(3) : launches.in(0),
       launches.out(0), launches.sums(1), launches.sums(2), s},
      channel_items(s));
}

void launch(const PackLaunches& launches, const program::NormInputGradient& norm) {
  const NormShape s = norm_shape(launches, norm.shape, norm.groups, norm.relu);
  launches.context.items("norm_input_gradient",
                         {launches.in(0), launches.in(1), launches.in(2), launches.in(3),
                          norm.relu ? launches.in(4) : launches.in(0), launches.out(0), s},
                         element_items(s, launches.context.style));
}

template void PackLaunches::operator()(const program::NormStatistics&) const;
template void PackLaunches::operator()(const program::NormForward&) const;
template void PackLaunches::operator()(const program::NormSums&) const;
template void PackLaunches::operator()(const program::NormInputGradient&) const;

}  // namespace lockstep::gpu
