#include "child_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lockstep::app {
namespace {

using Clock = std::chrono::steady_clock;

// What a line is; it stands before the line's text. A fault follows as a digit.
constexpr char kFinding = 'f', kDone = 'd', kWrong = 'w';

constexpr int kTick = 100;                    // milliseconds between two looks at the clock
constexpr std::chrono::seconds kPatience{5};  // a killed process that is inside a driver takes a moment

[[noreturn]] void fail(const char* what) {
  throw Error(Fault::device, "cannot {} a process of its own for a device: {}", what,
              std::generic_category().message(errno));
}

// Closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

[[noreturn]] void work_and_end(const std::function<void(ParentLine&)>& work, ParentLine& line) {
  try {
    work(line);
  } catch (const Error& error) {
    line.end(error.fault(), error.what());
  } catch (const std::bad_alloc&) {
    line.end(Fault::device, "out of memory");
  } catch (const std::exception& error) {
    line.end(Fault::ours, error.what());
  }
  line.end();
}

// How the child ended, if it did within a few seconds: a process that is stuck in the kernel does not even
// die.
std::optional<int> status_of(pid_t child) {
  const auto patience = Clock::now() + kPatience;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (Clock::now() > patience) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string death(std::optional<int> status) {
  if (!status) return "its process neither answers nor ends";
  if (WIFSIGNALED(*status))
    return fmt::format("its process was ended by signal {} ({})", WTERMSIG(*status),
                       ::sigdescr_np(WTERMSIG(*status)));
  return fmt::format("its process ended by itself with exit code {}", WEXITSTATUS(*status));
}

// The parent's side.
class Child {
 public:
  Child(pid_t process, int descriptor) : process_(process), descriptor_(descriptor) {}

  ChildEnd follow(const ChildOptions& options, const std::function<void(std::string)>& on_line) {
    const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
    while (!over_) {
      if (options.stopped()) return killed(ChildEnd::How::stopped);
      if (Clock::now() >= end) return killed(ChildEnd::How::out_of_time);
      pollfd ready{descriptor_, POLLIN, 0};
      if (::poll(&ready, 1, kTick) > 0) read(on_line);
    }
    if (!result_) ::kill(process_, SIGKILL);  // it may have closed its end and nothing else
    const std::optional<int> status = status_of(process_);
    return result_ ? *result_ : ChildEnd{.fault = Fault::device, .wrong = death(status)};
  }

 private:
  ChildEnd killed(ChildEnd::How how) {
    ::kill(process_, SIGKILL);
    status_of(process_);
    return {.how = how};
  }

  void read(const std::function<void(std::string)>& on_line) {
    char bytes[1 << 14];
    const ssize_t count = ::read(descriptor_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) {
      over_ = true;
      return;
    }
    text_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1))
      take(text_.substr(0, end), on_line);
  }

  void take(const std::string& line, const std::function<void(std::string)>& on_line) {
    check(!line.empty(), "a child process sends an empty line");
    if (line[0] == kFinding) return on_line(line.substr(1));
    over_ = true;
    result_ = ChildEnd{};
    if (line[0] != kWrong) return;
    result_->fault = static_cast<Fault>(line.at(1) - '0');
    result_->wrong = line.substr(2);
  }

  const pid_t process_;
  const int descriptor_;
  std::string text_;
  bool over_ = false;
  std::optional<ChildEnd> result_;
};

}  // namespace

void ParentLine::send(char kind, std::string_view line) {
  std::string text = kind + std::string(line);
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  text += '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ::_exit(static_cast<int>(Fault::ours));  // the parent has closed its end
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ParentLine::say(std::string_view line) {
  const Lock lock(mutex_);
  send(kFinding, line);
}

void ParentLine::end() {
  const Lock lock(mutex_);
  send(kDone, "");
  ::_exit(0);
}

void ParentLine::end(Fault fault, std::string_view message) {
  const Lock lock(mutex_);
  send(kWrong, fmt::format("{}{}", static_cast<int>(fault), message));
  ::_exit(static_cast<int>(fault));
}

ChildEnd run_in_child(const std::function<void(ParentLine&)>& work, const ChildOptions& options,
                      const std::function<void(std::string)>& on_line) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("connect");
  const Descriptor reading(ends[0]);
  std::optional<Descriptor> writing(std::in_place, ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("make");
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(static_cast<int>(Fault::ours));
    ParentLine line(writing->number());
    work_and_end(work, line);
  }
  writing.reset();
  return Child(child, reading.number()).follow(options, on_line);
}

}  // namespace lockstep::app
