#include "model/layers/dropout.h"

#include "base/error.h"

namespace lockstep::model {

Shape Dropout::output(const LayerInputs& in) const {
  if (!(p >= 0 && p < 1)) {  // nor is NaN
    throw Error(
        Fault::usage,
        "layer {} drops elements of its input {} with probability {}; it must be at least 0 and below 1",
        in.layer, to_string(in), p);
  }
  return in.shape();
}

}  // namespace lockstep::model
