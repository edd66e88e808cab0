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
