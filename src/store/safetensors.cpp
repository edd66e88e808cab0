#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "store/safetensors_header.h"
#include "store/tensor_file.h"
#include "store/tensor_file_reader.h"

namespace lockstep::store {
namespace {

SafetensorsHeader header_for(const TensorFile& file) {
  SafetensorsHeader header{.tensors = {}, .metadata = file.metadata};
  std::set<std::string_view> names{"__metadata__"};
  std::uint64_t offset = 0;
  for (const Tensor& tensor : file.tensors) {
    check(names.insert(tensor.name).second, "tensor name {:?} is taken", tensor.name);
    TensorEntry entry{.name = tensor.name, .dtype = std::string(kFloat32), .shape = {}, .begin = offset};
    for (const std::int64_t size : tensor.shape) {
      check(size >= 0, "tensor {:?} has a negative size", tensor.name);
      entry.shape.push_back(static_cast<std::uint64_t>(size));
    }
    offset += tensor.values.size() * sizeof(float);
    entry.end = offset;
    check(bytes_by_shape(entry, "tensor to write") == entry.end - entry.begin,
          "tensor {:?} has {} values, its shape says otherwise", tensor.name, tensor.values.size());
    header.tensors.push_back(std::move(entry));
  }
  return header;
}

TensorFile all_of(TensorFileReader reader) {
  return {.tensors = reader.read_values(), .metadata = reader.metadata()};
}

}  // namespace

std::string tensor_file_header(const TensorFile& file) { return safetensors_header_bytes(header_for(file)); }

void write_tensor_file(const std::filesystem::path& path, const TensorFile& file) {
  const std::string header = tensor_file_header(file);
  AtomicFile out(path);
  out.write(header);
  for (const Tensor& tensor : file.tensors) out.write(std::as_bytes(std::span(tensor.values)));
  out.commit();
}

TensorFile read_tensor_file(const std::filesystem::path& path) { return all_of(TensorFileReader(path)); }

TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view file) {
  return all_of(TensorFileReader(bytes, file));
}

}  // namespace lockstep::store
