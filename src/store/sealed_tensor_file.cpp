#include "store/sealed_tensor_file.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"

namespace lockstep::store {
namespace {

const std::string kHeaderHash = "hash";
const std::string kTensorHash = "hash:";  // and its name

std::string hash_of_values(const Tensor& tensor) {
  return to_hex(hash128(std::as_bytes(std::span(tensor.values))));
}

std::string hash_of_text(std::string_view text) { return to_hex(hash128(std::as_bytes(std::span(text)))); }

void check_form(const TensorFileReader& reader) {
  const std::string expected = safetensors_header_bytes(reader.header());
  const std::string& found = reader.header_bytes();
  const auto [differs, other] = std::ranges::mismatch(expected, found);
  if (differs != expected.end() || other != found.end())
    throw Error(
        Fault::data,
        "{}: at byte {}: expected the header in the form Lockstep writes, found another; it is damaged "
        "or of another program",
        reader.file(), differs - expected.begin());
}

std::string take_hash(std::map<std::string, std::string>& metadata, const std::string& key,
                      std::string_view what, std::string_view file) {
  auto stored = metadata.extract(key);
  if (!stored)
    throw Error(Fault::data, "{}: {}: expected its hash as {:?} in __metadata__, found none", file, what,
                key);
  return std::move(stored.mapped());
}

std::string described(const std::string& tensor) { return fmt::format("tensor {:?}", tensor); }

void check_hash(const std::string& expected, const std::string& found, std::string_view what,
                std::string_view file) {
  if (expected != found)
    throw Error(Fault::data, "{}: {}: expected hash {:?}, found {:?}; the file is damaged", file, what,
                expected, found);
}

}  // namespace

void seal(TensorFile& file) {
  const auto add = [&](const std::string& key, std::string hash) {
    check(file.metadata.emplace(key, std::move(hash)).second, "metadata {:?} is taken", key);
  };
  for (const Tensor& tensor : file.tensors) add(kTensorHash + tensor.name, hash_of_values(tensor));
  add(kHeaderHash, hash_of_text(tensor_file_header(file)));
}

SealedReader::SealedReader(TensorFileReader reader)
    : reader_(std::move(reader)), metadata_(reader_.metadata()) {
  check_form(reader_);
  const std::string stored = take_hash(metadata_, kHeaderHash, "header", file());
  SafetensorsHeader hashed = reader_.header();
  hashed.metadata = metadata_;
  check_hash(stored, hash_of_text(safetensors_header_bytes(hashed)), "header", file());
  for (const TensorShape& tensor : tensors())
    hashes_.push_back(take_hash(metadata_, kTensorHash + tensor.name, described(tensor.name), file()));
  const auto more = metadata_.lower_bound(kTensorHash);
  if (more != metadata_.end() && more->first.starts_with(kTensorHash))
    throw Error(Fault::data, "{}: expected a tensor for every hash, found {:?} and no such tensor", file(),
                more->first);
}

std::vector<Tensor> SealedReader::read_values() {
  std::vector<Tensor> values = reader_.read_values();
  for (std::size_t i = 0; i < values.size(); ++i)
    check_hash(hashes_[i], hash_of_values(values[i]), described(values[i].name), file());
  return values;
}

TensorFile parse_sealed_tensor_file(std::span<const std::byte> bytes, std::string_view file) {
  SealedReader reader(TensorFileReader(bytes, file));
  return {.tensors = reader.read_values(), .metadata = reader.metadata()};
}

}  // namespace lockstep::store
