#include "output.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace lockstep::app {
namespace {

// 0, or the system's error.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void print_result(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0)
    throw Error(Fault::ours, "cannot write the results to stdout: {}",
                std::generic_category().message(error));
}

void print_error(std::string_view message) {
  std::string line = "lockstep: " + std::string(message);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  write_all(STDERR_FILENO, line + '\n');  // a line that is lost here cannot be reported anywhere else
}

void prepare_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is the one that is missing. Opened for reading, so that every write is refused.
    if (::open("/dev/null", O_RDONLY) != descriptor)
      throw Error(Fault::device, "standard descriptor {} is closed and /dev/null cannot stand in for it",
                  descriptor);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace lockstep::app
