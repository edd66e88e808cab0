// Named float32 tensors and a few words about them, as a safetensors file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::store {

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // as many as shape says
};

struct TensorShape {
  std::string name;
  std::vector<std::int64_t> shape;

  bool operator==(const TensorShape&) const = default;
};

struct TensorFile {
  std::vector<Tensor> tensors;                  // in file order
  std::map<std::string, std::string> metadata;  // safetensors' __metadata__
};

// The bytes of the file in front of the values: the header's size and its text. Equal content gives equal
// bytes.
std::string tensor_file_header(const TensorFile& file);

// Writes atomically: temporary file, fsync, rename; an older file at `path` stays whole until then.
// Equal content gives equal bytes. Throws Error(ours) naming the path.
void write_tensor_file(const std::filesystem::path& path, const TensorFile& file);

// Checks every rule of the format. Throws Error(data) naming the file, the tensor and the rule. Takes as much
// memory as the file says its tensors need: store/tensor_file_reader.h lets the caller judge that first.
TensorFile read_tensor_file(const std::filesystem::path& path);

// The same for bytes in memory; `file` is what errors call them.
TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view file);

}  // namespace lockstep::store
