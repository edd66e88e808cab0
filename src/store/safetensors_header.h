// The JSON header of a safetensors file: what it says, and its text.
// https://github.com/huggingface/safetensors#format
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::store {

struct TensorEntry {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // in bytes after the header
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  // in the order of the text
  std::map<std::string, std::string> metadata;
};

// The only type of numbers that is read and written.
constexpr std::string_view kFloat32 = "F32";

// Bytes of a tensor of float32 by its shape. Throws Error(data) where that, or a size, passes 63 bits.
std::uint64_t bytes_by_shape(const TensorEntry& entry, std::string_view file);

// Throws Error(data) unless the text is JSON of exactly this form: no key twice, none missing, none unknown.
// What the entries mean for each other and for the file is the caller's to check.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::string_view file);

// Metadata first, then tensors by name; no whitespace but the padding to 8 bytes at the end.
// Requires: names and metadata are UTF-8, no name twice.
std::string safetensors_header_text(const SafetensorsHeader& header);

// What a file begins with: the size of the text in 8 bytes, then the text.
std::string safetensors_header_bytes(const SafetensorsHeader& header);

}  // namespace lockstep::store
