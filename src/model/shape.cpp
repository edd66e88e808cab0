#include "model/shape.h"

#include <fmt/core.h>

namespace lockstep::model {

std::string to_string(const Shape& shape) {
  if (shape.flat()) return fmt::format("{}", shape.channels);
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

}  // namespace lockstep::model
