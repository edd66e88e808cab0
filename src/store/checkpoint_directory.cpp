#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/directory.h"
#include "base/error.h"
#include "base/input_file.h"
#include "store/checkpoint.h"

namespace lockstep::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";

fs::path checkpoints_in(const fs::path& run) { return run / "checkpoints"; }

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

enum class Purpose { reading, writing };

// A writer removes nothing but files: what else has a name of ours, or is not known, is left alone. A reader
// gets every name of ours: what cannot be read stops it, and what is no file cannot be passed over silently.
bool is_taken(const fs::directory_entry& entry, Purpose purpose) {
  std::error_code unknown;
  return purpose == Purpose::reading || entry.is_regular_file(unknown);
}

Files files_in(const fs::path& directory, Purpose purpose) {
  Files files;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::optional<std::int64_t> step = step_of(entry->path().filename().string());
    if (step && is_taken(*entry, purpose)) files.emplace(*step, entry->path());
  }
  if (error)
    throw Error(purpose == Purpose::reading ? Fault::data : Fault::ours,
                "{}: cannot list the checkpoints: {}", directory.string(), error.message());
  return files;
}

void remove_file(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error) throw Error(Fault::ours, "{}: cannot remove the file: {}", file.string(), error.message());
}

// A file under another step's name would be taken for newer or older than it is.
Checkpoint read_named(const fs::path& file, std::int64_t step, const TensorsOf& tensors_of) {
  Checkpoint checkpoint = read_checkpoint(file, tensors_of);
  if (checkpoint.step != step)
    throw Error(Fault::data, "{}: expected step {} by its name, found {}", file.string(), step,
                checkpoint.step);
  return checkpoint;
}

FoundCheckpoint newest_whole(const fs::path& run, const TensorsOf& tensors_of) {
  std::vector<SkippedCheckpoint> skipped;
  for (const auto& [step, file] : files_in(checkpoints_in(run), Purpose::reading)) {
    try {
      return {.checkpoint = read_named(file, step, tensors_of), .file = file, .skipped = std::move(skipped)};
    } catch (const CannotRead&) {
      throw;
    } catch (const Error& error) {
      if (error.fault() != Fault::data) throw;
      skipped.push_back({file, error.what()});
    }
  }
  std::vector<std::string> reasons;
  reasons.reserve(skipped.size());
  for (const SkippedCheckpoint& one : skipped) reasons.push_back(one.why);
  throw Error(Fault::data, "{}: expected a whole checkpoint in {}, found {}", run.string(),
              checkpoints_in(run).filename().string(),
              reasons.empty() ? "none" : fmt::format("only damaged ones: {}", fmt::join(reasons, "; ")));
}

}  // namespace

void write_checkpoint(const fs::path& run, const Checkpoint& checkpoint) {
  const fs::path directory = checkpoints_in(run);
  make_directory(directory);
  write_tensor_file(directory / name_of(checkpoint.step), tensor_file_of(checkpoint));

  // Newest first: the one next below stays, so that there is an older one should this one be damaged.
  const Files files = files_in(directory, Purpose::writing);
  auto older = files.upper_bound(checkpoint.step);
  if (older != files.end()) ++older;
  for (; older != files.end(); ++older) remove_file(older->second);
}

FoundCheckpoint read_newest_checkpoint(const fs::path& run, const TensorsOf& tensors_of) {
  try {
    return newest_whole(run, tensors_of);
  } catch (const CannotRead& error) {
    throw Error(error.fault(), "{}; it may be whole, so no older checkpoint is used: try again",
                error.what());
  }
}

std::vector<fs::path> set_aside(const std::vector<SkippedCheckpoint>& skipped) {
  std::vector<fs::path> names;
  for (const SkippedCheckpoint& one : skipped) {
    fs::path name = fmt::format("{}.damaged", one.file.string());
    for (int number = 2; fs::exists(fs::symlink_status(name)); ++number)
      name = fmt::format("{}.damaged-{}", one.file.string(), number);
    std::error_code error;
    fs::rename(one.file, name, error);
    if (error)
      throw Error(Fault::ours, "{}: cannot rename the damaged checkpoint: {}", one.file.string(),
                  error.message());
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace lockstep::store
