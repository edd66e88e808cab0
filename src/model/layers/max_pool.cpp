#include "model/layers/max_pool.h"

#include "model/sliding_window.h"

namespace lockstep::model {

Shape MaxPool::output(const LayerInputs& in) const {
  const Extent out = pool_windows_inside(in, {"window", window, stride, padding});
  return {in.shape().channels, out.height, out.width};
}

std::string MaxPool::words() const { return "maximum pool " + words_of({"window", window, stride, padding}); }

}  // namespace lockstep::model
