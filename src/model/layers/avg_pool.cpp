#include "model/layers/avg_pool.h"

#include "model/sliding_window.h"

namespace lockstep::model {

Shape AvgPool::output(const LayerInputs& in) const {
  const Extent out = pool_windows_inside(in, {"window", window, stride, padding});
  return {in.shape().channels, out.height, out.width};
}

std::string AvgPool::words() const { return "average pool " + words_of({"window", window, stride, padding}); }

}  // namespace lockstep::model
