#include "store/sealed_tensor_file.h"

#include <algorithm>
#include <string>
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

// Requires: the metadata is without kHeaderHash.
std::string hash_of_header(const TensorFile& file) {
  const std::string header = tensor_file_header(file);
  return to_hex(hash128(std::as_bytes(std::span(header))));
}

void check_form(std::span<const std::byte> bytes, const TensorFile& parsed, std::string_view file) {
  const std::string header = tensor_file_header(parsed);
  const std::span<const std::byte> expected = std::as_bytes(std::span(header));
  const auto [differs, found] = std::mismatch(expected.begin(), expected.end(), bytes.begin(), bytes.end());
  if (differs != expected.end())
    throw Error(
        Fault::data,
        "{}: at byte {}: expected the header in the form Lockstep writes, found another; it is damaged "
        "or of another program",
        file, differs - expected.begin());
}

// Takes the hash out of the metadata and holds it against what the bytes give.
void check_hash(TensorFile& parsed, const std::string& key, std::string_view what, std::string_view file,
                auto hash) {
  const auto stored = parsed.metadata.extract(key);
  if (!stored)
    throw Error(Fault::data, "{}: {}: expected its hash as {:?} in __metadata__, found none", file, what,
                key);
  const std::string found = hash();
  if (stored.mapped() != found)
    throw Error(Fault::data, "{}: {}: expected hash {:?}, found {:?}; the file is damaged", file, what,
                stored.mapped(), found);
}

}  // namespace

void seal(TensorFile& file) {
  const auto add = [&](const std::string& key, std::string hash) {
    check(file.metadata.emplace(key, std::move(hash)).second, "metadata {:?} is taken", key);
  };
  for (const Tensor& tensor : file.tensors) add(kTensorHash + tensor.name, hash_of_values(tensor));
  add(kHeaderHash, hash_of_header(file));
}

TensorFile parse_sealed_tensor_file(std::span<const std::byte> bytes, std::string_view file) {
  TensorFile parsed = parse_tensor_file(bytes, file);
  check_form(bytes, parsed, file);
  check_hash(parsed, kHeaderHash, "header", file, [&] { return hash_of_header(parsed); });
  for (const Tensor& tensor : parsed.tensors)
    check_hash(parsed, kTensorHash + tensor.name, fmt::format("tensor {:?}", tensor.name), file,
               [&] { return hash_of_values(tensor); });
  const auto more = parsed.metadata.lower_bound(kTensorHash);
  if (more != parsed.metadata.end() && more->first.starts_with(kTensorHash))
    throw Error(Fault::data, "{}: expected a tensor for every hash, found {:?} and no such tensor", file,
                more->first);
  return parsed;
}

}  // namespace lockstep::store
