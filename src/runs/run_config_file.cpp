#include "runs/run_config_file.h"

#include <string_view>

#include "base/file_reader.h"
#include "runs/weights_file.h"

namespace lockstep::runs {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;  // a config has a few hundred

}  // namespace

store::RunConfig read_config(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_raw_file(file, kMaxBytes);
  return store::parse_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

std::optional<store::RunConfig> config_of_run(const std::filesystem::path& run) {
  std::error_code ignored;  // what cannot be looked at is not there
  const std::filesystem::path file = run / kConfigFile;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  return read_config(file);
}

}  // namespace lockstep::runs
