// The bytes write_tensor_file() gives a file, without a disk.
#pragma once
#include <span>
#include <string>

#include "store/tensor_file.h"

namespace lockstep::store {

inline std::string bytes_for_test(const TensorFile& file) {
  std::string bytes = tensor_file_header(file);
  for (const Tensor& tensor : file.tensors) {
    const std::span<const std::byte> values = std::as_bytes(std::span(tensor.values));
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size());
  }
  return bytes;
}

}  // namespace lockstep::store
