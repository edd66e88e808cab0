#include "store/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace lockstep::store {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";

// Follows the text token by token and refuses the first one that does not belong where it stands. So depth
// and memory are bounded whatever the text holds, and a key that comes twice is seen, which a finished tree
// hides.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(std::string_view file) : file_(file) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    switch (expected_) {
      case Expected::start:
        return enter(Expected::names);
      case Expected::metadata:
        return enter(Expected::metadata_names);
      case Expected::tensor:
        return enter(Expected::field_names);
      default:
        unexpected("an object");
    }
  }

  bool key(std::string& key) override {
    if (expected_ == Expected::names) {
      if (!names_.insert(key).second) refuse_twice("header", key);
      if (key == kMetadata) return enter(Expected::metadata);
      header_.tensors.push_back({.name = key, .dtype = {}, .shape = {}});
      seen_ = {};
      return enter(Expected::tensor);
    }
    if (expected_ == Expected::metadata_names) {
      if (header_.metadata.contains(key)) refuse_twice(kMetadata, key);
      metadata_key_ = key;
      return enter(Expected::metadata_value);
    }
    if (key == "dtype") return enter_field(seen_.dtype, key, Expected::dtype);
    if (key == "shape") return enter_field(seen_.shape, key, Expected::shape);
    if (key == "data_offsets") return enter_field(seen_.offsets, key, Expected::offsets);
    throw Error(Fault::data, "{}: tensor {:?}: expected dtype, shape and data_offsets, found the key {:?}",
                file_, tensor().name, key);
  }

  bool end_object() override {
    if (expected_ == Expected::names) return enter(Expected::end);
    if (expected_ == Expected::field_names && !(seen_.dtype && seen_.shape && seen_.offsets))
      throw Error(Fault::data, "{}: tensor {:?}: expected dtype, shape and data_offsets, found no {}", file_,
                  tensor().name,
                  !seen_.dtype   ? "dtype"
                  : !seen_.shape ? "shape"
                                 : "data_offsets");
    return enter(Expected::names);
  }

  bool start_array(std::size_t) override {
    if (expected_ == Expected::shape) return enter(Expected::shape_sizes);
    if (expected_ == Expected::offsets) return enter(Expected::offset_values);
    unexpected("an array");
  }

  bool end_array() override {
    if (expected_ == Expected::offset_values) {
      if (offsets_.size() != 2)
        throw Error(Fault::data, "{}: tensor {:?}: expected two data_offsets, found {}", file_, tensor().name,
                    offsets_.size());
      tensor().begin = offsets_[0];
      tensor().end = offsets_[1];
      offsets_.clear();
    }
    return enter(Expected::field_names);
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (expected_ == Expected::shape_sizes)
      tensor().shape.push_back(value);
    else if (expected_ == Expected::offset_values && offsets_.size() <= 2)  // a third is enough to be refused
      offsets_.push_back(value);
    else if (expected_ != Expected::offset_values)
      unexpected("a number");
    return true;
  }

  bool string(std::string& value) override {
    if (expected_ == Expected::metadata_value) {
      header_.metadata.emplace(std::move(metadata_key_), std::move(value));
      return enter(Expected::metadata_names);
    }
    if (expected_ != Expected::dtype) unexpected("a string");
    tensor().dtype = std::move(value);
    return enter(Expected::field_names);
  }

  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_float(number_float_t, const std::string&) override {
    unexpected("a fraction or a number too large");
  }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw Error(Fault::data, "{}: expected a header of valid UTF-8 JSON, found an error at its byte {}",
                file_, position);
  }

 private:
  enum class Expected {  // what the next token may be
    start,
    names,
    metadata,
    metadata_names,
    metadata_value,
    tensor,
    field_names,
    dtype,
    shape,
    shape_sizes,
    offsets,
    offset_values,
    end,
  };

  static std::string_view expected_text(Expected expected) {
    switch (expected) {
      case Expected::metadata:
        return "an object of strings as __metadata__";
      case Expected::metadata_value:
        return "a string in __metadata__";
      case Expected::tensor:
        return "an object";
      case Expected::dtype:
        return "a string as dtype";
      case Expected::shape:
      case Expected::shape_sizes:
        return "an array of whole numbers as shape";
      case Expected::offsets:
      case Expected::offset_values:
        return "an array of two whole numbers as data_offsets";
      default:
        return "an object";
    }
  }

  [[noreturn]] void unexpected(std::string_view found) const {
    const bool in_tensor = expected_ >= Expected::tensor && expected_ <= Expected::offset_values;
    throw Error(Fault::data, "{}: {}expected {}, found {}", file_,
                in_tensor ? fmt::format("tensor {:?}: ", header_.tensors.back().name) : "header: ",
                expected_text(expected_), found);
  }

  [[noreturn]] void refuse_twice(std::string_view where, std::string_view key) const {
    throw Error(Fault::data, "{}: {}: expected every key once, found {:?} twice", file_, where, key);
  }

  bool enter(Expected next) {
    expected_ = next;
    return true;
  }

  bool enter_field(bool& seen, std::string_view key, Expected next) {
    if (std::exchange(seen, true)) refuse_twice(fmt::format("tensor {:?}", tensor().name), key);
    return enter(next);
  }

  TensorEntry& tensor() { return header_.tensors.back(); }

  const std::string_view file_;
  SafetensorsHeader header_;
  Expected expected_ = Expected::start;
  std::set<std::string> names_;
  std::string metadata_key_;
  std::vector<std::uint64_t> offsets_;
  struct {
    bool dtype = false, shape = false, offsets = false;
  } seen_;  // of the tensor at hand
};

}  // namespace

std::uint64_t bytes_by_shape(const TensorEntry& entry, std::string_view file) {
  constexpr std::uint64_t kLimit = std::numeric_limits<std::int64_t>::max();
  std::uint64_t bytes = sizeof(float);
  for (const std::uint64_t size : entry.shape) {
    if (size > kLimit || (size != 0 && bytes > kLimit / size))
      throw Error(Fault::data, "{}: tensor {:?}: expected a shape of at most {} bytes, found more", file,
                  entry.name, kLimit);
    bytes *= size;
  }
  return bytes;
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::string_view file) {
  if (!text.starts_with('{'))
    throw Error(Fault::data,
                "{}: expected a header that starts with '{{', found {:?}; is it a safetensors file?", file,
                text.substr(0, 1));
  // The parser takes a zero byte for the end of the text; JSON knows no such byte.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw Error(Fault::data, "{}: expected a header of valid UTF-8 JSON, found a zero byte at its byte {}",
                file, zero + 1);
  HeaderReader reader(file);
  Json::sax_parse(text, &reader);
  return reader.take();
}

std::string safetensors_header_text(const SafetensorsHeader& header) {
  std::string text = "{";
  if (!header.metadata.empty()) text += fmt::format("\"{}\":{},", kMetadata, Json(header.metadata).dump());
  std::vector<const TensorEntry*> by_name;
  by_name.reserve(header.tensors.size());
  for (const TensorEntry& entry : header.tensors) by_name.push_back(&entry);
  std::sort(by_name.begin(), by_name.end(), [](auto a, auto b) { return a->name < b->name; });
  for (const TensorEntry* entry : by_name) {
    const Json fields{
        {"data_offsets", {entry->begin, entry->end}}, {"dtype", entry->dtype}, {"shape", entry->shape}};
    text += fmt::format("{}:{},", Json(entry->name).dump(), fields.dump());
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::string safetensors_header_bytes(const SafetensorsHeader& header) {
  const std::string text = safetensors_header_text(header);
  const std::uint64_t size = text.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + text;
}

}  // namespace lockstep::store
