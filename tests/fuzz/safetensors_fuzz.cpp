// Any bytes: a safetensors file, whose header written again says the same, or an Error(data).
#include "fuzz/expect_refusal.h"
#include "store/safetensors_header.h"
#include "store/tensor_file.h"

namespace {

void header_comes_back(std::string_view text) {
  using namespace lockstep;
  const store::SafetensorsHeader header = store::parse_safetensors_header(text, "fuzz");
  const std::string written = store::safetensors_header_text(header);
  const store::SafetensorsHeader again = store::parse_safetensors_header(written, "fuzz");
  fuzz::expect(again.metadata == header.metadata && again.tensors.size() == header.tensors.size());
  fuzz::expect(store::safetensors_header_text(again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  fuzz::accept_or_refuse(Fault::data, [&] {
    const store::TensorFile file = store::parse_tensor_file(std::as_bytes(std::span(data, size)), "fuzz");
    std::size_t values = 0;
    for (const store::Tensor& tensor : file.tensors) values += tensor.values.size();
    fuzz::expect(values * sizeof(float) <= size);
  });
  fuzz::accept_or_refuse(Fault::data, [&] {
    header_comes_back({reinterpret_cast<const char*>(data), size});
  });
  return 0;
}
