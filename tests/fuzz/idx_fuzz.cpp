// Any bytes: an IDX file, or an Error(data) of one line.
#include "data/idx.h"
#include "fuzz/expect_refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::accept_or_refuse(Fault::data, [&] {
    const data::IdxImages images = data::parse_idx_images(bytes, "fuzz");
    fuzz::expect(images.pixels.size() == std::size_t{images.count} * static_cast<std::size_t>(images.height) *
                                             static_cast<std::size_t>(images.width));
  });
  fuzz::accept_or_refuse(Fault::data, [&] {
    for (const std::uint8_t label : data::parse_idx_labels(bytes, "fuzz", 10)) fuzz::expect(label < 10);
  });
  return 0;
}
