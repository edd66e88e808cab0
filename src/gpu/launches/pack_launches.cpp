#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

std::size_t PackLaunches::output_floats() const {
  return context.elements_of(instruction.outputs[0]) * product({packs(), arithmetic::kPack});
}

}  // namespace lockstep::gpu
