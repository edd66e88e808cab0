#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/directory.h"
#include "base/error.h"
#include "store/checkpoint.h"

namespace lockstep::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";

fs::path directory_of(const fs::path& run) { return run / "checkpoints"; }

std::string name_of(std::int64_t step) { return fmt::format("{}{:08}.safetensors", kPrefix, step); }

// Nothing for a name that name_of() does not give: temporary and foreign files.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return {};
  std::int64_t step = 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  if (step < 0 || name != name_of(step)) return {};
  return step;
}

using Files = std::map<std::int64_t, fs::path, std::greater<>>;  // newest first

Files files_in(const fs::path& directory, Fault fault) {
  Files files;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // what cannot be looked at is not ours
    const std::optional<std::int64_t> step = step_of(entry->path().filename().string());
    if (step && entry->is_regular_file(ignored)) files.emplace(*step, entry->path());
  }
  if (error) throw Error(fault, "{}: cannot list the checkpoints: {}", directory.string(), error.message());
  return files;
}

void remove_file(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error) throw Error(Fault::ours, "{}: cannot remove the file: {}", file.string(), error.message());
}

// A file under another step's name would be taken for newer or older than it is.
Checkpoint read_named(const fs::path& file, std::int64_t step) {
  Checkpoint checkpoint = read_checkpoint(file);
  if (checkpoint.step != step)
    throw Error(Fault::data, "{}: expected step {} by its name, found {}", file.string(), step,
                checkpoint.step);
  return checkpoint;
}

}  // namespace

void write_checkpoint(const fs::path& run, const Checkpoint& checkpoint) {
  const fs::path directory = directory_of(run);
  make_directory(directory);
  write_tensor_file(directory / name_of(checkpoint.step), tensor_file_of(checkpoint));

  const Files files = files_in(directory, Fault::ours);
  const auto before = files.upper_bound(checkpoint.step);
  for (auto file = files.begin(); file != files.end(); ++file)
    if (file->first != checkpoint.step && file != before) remove_file(file->second);
}

FoundCheckpoint read_newest_checkpoint(const fs::path& run) {
  std::vector<std::string> refused;
  for (const auto& [step, file] : files_in(directory_of(run), Fault::data)) {
    try {
      return {.checkpoint = read_named(file, step), .file = file, .skipped = std::move(refused)};
    } catch (const Error& error) {
      if (error.fault() != Fault::data) throw;
      refused.emplace_back(error.what());
    }
  }
  throw Error(Fault::data, "{}: expected a whole checkpoint in {}, found {}", run.string(),
              directory_of(run).filename().string(),
              refused.empty() ? "none" : fmt::format("only damaged ones: {}", fmt::join(refused, "; ")));
}

}  // namespace lockstep::store
