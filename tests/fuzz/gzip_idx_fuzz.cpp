// Any bytes as gzip: what they unpack to, never more than the limit, and that as an IDX file; or an
// Error(data).
#include "base/file_reader.h"
#include "data/idx.h"
#include "fuzz/expect_refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  constexpr std::size_t kLimit = 100000;
  fuzz::accept_or_refuse(Fault::data, [&] {
    const auto unpacked = unpack_gzip(std::as_bytes(std::span(data, size)), "fuzz", kLimit);
    fuzz::expect(unpacked.size() <= kLimit);
    data::parse_idx_images(unpacked, "fuzz");
  });
  return 0;
}
