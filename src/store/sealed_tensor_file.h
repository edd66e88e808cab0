// A tensor file in which no changed bit stays unseen. Its metadata holds a XXH3-128 hash of every tensor's
// values ("hash:NAME") and one of all that stands in front of the values, but for itself ("hash"). The
// reader takes only the one form that write_tensor_file() gives a file, so that no byte can change unseen.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/tensor_file.h"
#include "store/tensor_file_reader.h"

namespace lockstep::store {

// Adds the hashes. Requires: no metadata of these names is there yet.
void seal(TensorFile& file);

// Reads such a file in two steps, as TensorFileReader does.
class SealedReader {
 public:
  // Throws Error(data) naming the file, the tensor, what was expected and found: another form, a hash that is
  // missing or that has no tensor, a header that differs from its hash.
  explicit SealedReader(TensorFileReader reader);

  const std::string& file() const { return reader_.file(); }
  const std::vector<TensorShape>& tensors() const { return reader_.tensors(); }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }  // without the hashes

  // Once. Throws Error(data) naming the tensor whose values differ from their hash.
  std::vector<Tensor> read_values();

 private:
  TensorFileReader reader_;
  std::map<std::string, std::string> metadata_;
  std::vector<std::string> hashes_;  // of the tensors, in file order
};

// All of it, from memory; `file` is what errors call it.
TensorFile parse_sealed_tensor_file(std::span<const std::byte> bytes, std::string_view file);

}  // namespace lockstep::store
