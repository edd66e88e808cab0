#include "model/layers/add.h"

#include "base/error.h"

namespace lockstep::model {

Shape Add::output(const LayerInputs& in) {
  if (in.inputs[0].shape != in.inputs[1].shape) {
    throw Error(Fault::usage, "layer {} adds two values of the same shape, got {}", in.layer, to_string(in));
  }
  return in.shape();
}

}  // namespace lockstep::model
