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

// Throws Error(data) unless the text is JSON of exactly this form: no key twice, none missing, none unknown.
// What the entries mean for each other and for the file is the caller's to check.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::string_view file);

// Metadata first, then tensors by name; no whitespace but the padding to 8 bytes at the end.
// Requires: names and metadata are UTF-8, no name twice.
std::string safetensors_header_text(const SafetensorsHeader& header);

}  // namespace lockstep::store
