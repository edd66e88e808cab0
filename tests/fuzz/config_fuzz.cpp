// Any text: a config, which written and read again is the same, or an Error(usage).
#include "fuzz/expect_refusal.h"
#include "store/config_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  fuzz::accept_or_refuse(Fault::usage, [&] {
    const store::RunConfig config = store::parse_config({reinterpret_cast<const char*>(data), size}, "fuzz");
    fuzz::expect(store::parse_config(store::to_toml(config), "written") == config);
  });
  return 0;
}
