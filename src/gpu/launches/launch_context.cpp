#include "gpu/launches/launch_context.h"

#include "gpu/launch_plan.h"

namespace lockstep::gpu {

void LaunchContext::items(std::string_view kernel, const std::vector<Argument>& arguments,
                          std::size_t count) const {
  driver.launch(Queue::compute, kernel, arguments, style.items(count));
}

void LaunchContext::floats(std::string_view kernel, const std::vector<Argument>& arguments,
                           std::size_t count) const {
  driver.launch(Queue::compute, kernel, arguments, style.items_for_floats(count));
}

void LaunchContext::elements(std::string_view kernel, const std::vector<Argument>& arguments,
                             std::size_t count) const {
  driver.launch(Queue::compute, kernel, arguments, count);
}

// A work-item that takes several packs computes as if all were there.
int LaunchContext::tile_packs(int packs) const {
  constexpr int kCostOfOne = 2;  // of a pack by itself, against one among several
  const int whole = divide_up(packs, style.tile_packs) * style.tile_packs;
  return whole <= kCostOfOne * packs ? style.tile_packs : 1;
}

std::string LaunchContext::tiled(std::string_view kernel, int packs) const {
  return fmt::format("{}_{}", kernel, tile_packs(packs));
}

std::size_t LaunchContext::tiles_of(int packs, int channels) const {
  return product({divide_up(packs, tile_packs(packs)), divide_up(channels, style.tile_outputs)});
}

int LaunchContext::weight_lanes(int channels) const {
  return style.pack_per_item ? divide_up(channels, arithmetic::kPack) : channels;
}

}  // namespace lockstep::gpu
