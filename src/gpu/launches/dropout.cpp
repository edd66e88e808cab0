#include <bit>

#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {
namespace {

int bits_of_word(std::uint64_t word) { return std::bit_cast<int>(static_cast<std::uint32_t>(word)); }

}  // namespace

void PackLaunches::operator()(const program::Dropout& dropout) const {
  const program::Shape &kept = dropout.kept, &whole = dropout.whole;
  context.items(
      "dropout",
      {in(0), out(0), context.memory.examples(), kept.channels, kept.height, kept.width, whole.height,
       whole.width, bits_of_word(input.seed), bits_of_word(input.seed >> 32), input.epoch,
       bits_of_word(dropout.stream), bits_of_word(dropout.threshold), dropout.scale, group.examples, packs()},
      product({packs(), divide_up(whole.elements(), 4)}));
}

}  // namespace lockstep::gpu
