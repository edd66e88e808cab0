#include "environment.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace lockstep::app {

std::string environment_variable(std::string_view name) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=')
      return std::string(text.substr(name.size() + 1));
  }
  return {};
}

std::filesystem::path cache_directory() {
  if (const std::string own = environment_variable("LOCKSTEP_CACHE"); !own.empty()) return own;
  if (const std::string caches = environment_variable("XDG_CACHE_HOME"); !caches.empty())
    return std::filesystem::path(caches) / "lockstep";
  const std::string home = environment_variable("HOME");
  return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".cache" / "lockstep";
}

report::ProgressOptions progress_options() {
  report::ProgressOptions options;
  options.terminal = ::isatty(STDERR_FILENO) == 1 && environment_variable("TERM") != "dumb";
  options.color = options.terminal && environment_variable("NO_COLOR").empty();
  winsize size{};
  if (options.terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) options.width = size.ws_col;
    if (size.ws_row > 0) options.height = size.ws_row;
  }
  return options;
}

}  // namespace lockstep::app
