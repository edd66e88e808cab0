#include "gpu/launches/pack_launches.h"

#include "base/error.h"

namespace lockstep::gpu {

std::size_t PackLaunches::output_floats() const {
  return context.elements_of(instruction.outputs[0]) * product({packs(), arithmetic::kPack});
}

void PackLaunches::not_over_packs() const {
  throw Error(Fault::ours, "defect: '{}' does not run over packs",
              program::operation_name(instruction.operation));
}

}  // namespace lockstep::gpu
