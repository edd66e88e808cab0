// A safetensors file, read in two steps: the header first, so that a file can be refused for what its header
// says before memory is taken for the values.
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "store/safetensors_header.h"
#include "store/tensor_file.h"

namespace lockstep::store {

// What becomes of the counters of minibatches that PyTorch keeps beside each batch norm: whole numbers in
// tensors named norm1.num_batches_tracked. Nothing here needs them.
enum class Counters { refused, skipped };

class TensorFileReader {
 public:
  // Reads the header and checks every rule of the format: the values are as many bytes as the header says.
  // Throws Error(data) naming the file, the tensor and the rule; CannotRead if the file cannot be read.
  explicit TensorFileReader(const std::filesystem::path& path, Counters counters = Counters::refused);

  // The same for bytes in memory, which outlive the reader; `file` is what errors call them.
  TensorFileReader(std::span<const std::byte> bytes, std::string_view file,
                   Counters counters = Counters::refused);

  const std::string& file() const { return source_->name(); }
  const std::vector<TensorShape>& tensors() const { return shapes_; }     // in file order, without counters
  const std::vector<std::string>& counters() const { return counters_; }  // names of those that are skipped
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

  // As it stands in the file: its size, then its text.
  const std::string& header_bytes() const { return header_bytes_; }
  const SafetensorsHeader& header() const { return header_; }  // tensors in file order

  // Once. Takes as much memory as the values; the caller has judged tensors() before.
  std::vector<Tensor> read_values();

 private:
  TensorFileReader(std::unique_ptr<ByteSource> source, Counters counters);

  std::unique_ptr<ByteSource> source_;
  std::string header_bytes_;
  SafetensorsHeader header_;
  std::vector<TensorShape> shapes_;
  std::vector<std::string> counters_;
};

}  // namespace lockstep::store
