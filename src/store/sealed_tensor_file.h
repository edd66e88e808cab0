// A tensor file in which no changed bit stays unseen. Its metadata holds a XXH3-128 hash of every tensor's
// values ("hash:NAME") and one of all that stands in front of the values, but for itself ("hash"). It is
// taken only in the one form write_tensor_file() gives it, so that there is no byte which may be this or
// that.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "store/tensor_file.h"

namespace lockstep::store {

// Adds the hashes. Requires: no metadata of these names is there yet.
void seal(TensorFile& file);

// The file without its hashes. Throws Error(data) naming `file`, the tensor, what was expected and found:
// what parse_tensor_file() refuses, another form, a hash that is missing, that differs or that has no tensor.
TensorFile parse_sealed_tensor_file(std::span<const std::byte> bytes, std::string_view file);

}  // namespace lockstep::store
