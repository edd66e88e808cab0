#include "host.h"

#include <fstream>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace lockstep::app {
namespace {

// What stands behind the first line that begins so, without blanks and quotes around it.
std::string value_in(const char* file, std::string_view key, char separator) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t\"", at + 1);
    const std::size_t last = line.find_last_not_of(" \t\"");
    if (first != std::string::npos) return line.substr(first, last - first + 1);
  }
  return "unknown";
}

}  // namespace

std::string processor_model() { return value_in("/proc/cpuinfo", "model name", ':'); }

std::string operating_system() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{}, {} {} {}", value_in("/etc/os-release", "PRETTY_NAME", '='), name.sysname,
                     name.release, name.machine);
}

std::string host_name() {
  utsname name{};
  ::uname(&name);
  return name.nodename;
}

std::size_t host_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(size) : 0;
}

}  // namespace lockstep::app
