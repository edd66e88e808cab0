#include <bit>

#include "gpu/launches/define_launch.h"

namespace lockstep::gpu {
namespace {

int bits_of_word(std::uint64_t word) { return std::bit_cast<int>(static_cast<std::uint32_t>(word)); }

}  // namespace

void launch(const PackLaunches& launches, const program::Dropout& dropout) {
  const program::Shape &kept = dropout.kept, &whole = dropout.whole;
  launches.context.items(
      "dropout",
      {launches.in(0), launches.out(0), launches.context.memory.examples(), kept.channels, kept.height,
       kept.width, whole.height, whole.width, bits_of_word(launches.input.seed),
       bits_of_word(launches.input.seed >> 32), launches.input.epoch, bits_of_word(dropout.stream),
       bits_of_word(dropout.threshold), dropout.scale, launches.group.examples, launches.packs()},
      product({launches.packs(), divide_up(whole.elements(), 4)}));
}

template void PackLaunches::operator()(const program::Dropout&) const;

}  // namespace lockstep::gpu
