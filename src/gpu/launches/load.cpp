#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

void PackLaunches::operator()(const program::Load& load) const {
  const int pixels = load.shape.elements();
  context.items("load_pixels", {context.memory.pixels(), out(0), pixels, group.examples, packs()},
                product({packs(), pixels}));
}

}  // namespace lockstep::gpu
