#include "cpu/free_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace lockstep::cpu {
namespace {

using std::filesystem::path;

// The number behind a word in a file of lines like "MemAvailable:  123 kB".
std::optional<std::size_t> number_behind(const std::string& word, const path& file) {
  std::ifstream stream(file);
  std::string name;
  std::size_t number = 0;
  for (std::string rest; stream >> name >> number; std::getline(stream, rest))
    if (name == word) return number;
  return std::nullopt;
}

std::optional<std::size_t> number_in(const path& file) {
  std::ifstream stream(file);
  std::size_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;  // no such file, or "max"
}

// Names of files in the two versions of control groups.
struct Version {
  path folder;
  const char *limit, *used, *files;
};

// The kernel takes memory of files back before a group fails, so it counts as free.
std::size_t left_in(const path& group, const Version& version) {
  const std::optional<std::size_t> limit = number_in(group / version.limit);
  const std::optional<std::size_t> used = number_in(group / version.used);
  if (!limit || !used) return kNoLimit;
  const std::size_t files = number_behind(version.files, group / "memory.stat").value_or(0);
  const std::size_t needed = *used - std::min(*used, files);
  return *limit - std::min(*limit, needed);
}

// A group is limited by the groups above it, too.
std::size_t left_of_groups(const path& root) {
  const path mounted = root / "sys/fs/cgroup";
  const Version first{mounted / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                      "total_inactive_file"};
  const Version second{mounted, "memory.max", "memory.current", "inactive_file"};
  std::ifstream groups(root / "proc/self/cgroup");
  std::size_t left = kNoLimit;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t name = line.find(':'), where = line.find(':', name + 1);
    if (name == std::string::npos || where == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(name + 1, where - name - 1) + ',';
    const bool memory = controllers.find(",memory,") != std::string::npos;
    if (!memory && controllers != ",,") continue;
    const Version& version = memory ? first : second;
    for (path group = line.substr(where + 1);; group = group.parent_path()) {
      left = std::min(left, left_in(version.folder / group.relative_path(), version));
      if (!group.has_relative_path()) break;
    }
  }
  return left;
}

std::size_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const std::size_t pages = number_in("/proc/self/statm").value_or(0);
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, used);
}

}  // namespace

std::size_t free_memory(const path& root) {
  const std::optional<std::size_t> kilobytes = number_behind("MemAvailable:", root / "proc/meminfo");
  return std::min({kilobytes ? *kilobytes * 1024 : kNoLimit, left_of_groups(root), left_of_address_space()});
}

}  // namespace lockstep::cpu
