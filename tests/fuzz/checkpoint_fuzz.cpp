// Any bytes: a checkpoint, which written and read again is the same, or an Error(data). Bytes that are a
// tensor file are tried a second time with hashes that fit, which no fuzzer would guess.
#include "fuzz/expect_refusal.h"
#include "store/bytes_for_test.h"
#include "store/checkpoint.h"
#include "store/sealed_tensor_file.h"

namespace {

using namespace lockstep;

void comes_back(std::span<const std::byte> bytes) {
  const store::Checkpoint checkpoint = store::parse_checkpoint(bytes, "fuzz");
  const std::string written = store::bytes_for_test(store::tensor_file_of(checkpoint));
  const store::Checkpoint again = store::parse_checkpoint(std::as_bytes(std::span(written)), "written");
  fuzz::expect(again.config == checkpoint.config);
  fuzz::expect(store::bytes_for_test(store::tensor_file_of(again)) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::accept_or_refuse(Fault::data, [&] { comes_back(bytes); });
  fuzz::accept_or_refuse(Fault::data, [&] {
    store::TensorFile file = store::parse_tensor_file(bytes, "fuzz");
    std::erase_if(file.metadata, [](const auto& word) { return word.first.starts_with("hash"); });
    store::seal(file);
    const std::string sealed = store::bytes_for_test(file);
    comes_back(std::as_bytes(std::span(sealed)));
  });
  return 0;
}
