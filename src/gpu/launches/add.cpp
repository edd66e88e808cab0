#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

void PackLaunches::operator()(const program::Add& add) const {
  const std::size_t floats = output_floats();
  context.floats(add.relu ? "add_relu" : "add", {in(0), in(1), out(0), as_int(floats)}, floats);
}

}  // namespace lockstep::gpu
