#include "model/layers/dropout.h"

#include "base/error.h"

namespace lockstep::model {

Shape Dropout::output(const LayerInputs& in) const {
  const bool is_probability = p >= 0 && p < 1;  // and not NaN
  if (!is_probability) {
    throw Error(
        Fault::usage,
        "layer {} drops elements of its input {} with probability {}; it must be at least 0 and below 1",
        in.layer, to_string(in), p);
  }
  return in.shape();
}

}  // namespace lockstep::model
