// The check that all numbers of a file are finite.
#pragma once
#include <string_view>

#include "store/tensor_file.h"

namespace lockstep::store {

// Throws Error(data) naming `file`, the tensor and its first element that is NaN or infinite.
void check_finite(const Tensor& tensor, std::string_view file);

}  // namespace lockstep::store
