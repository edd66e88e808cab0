// Work in a process of its own: if a driver crashes or hangs there, the caller goes on.
#pragma once
#include <functional>
#include <string>

#include "base/error.h"
#include "base/mutex.h"

namespace lockstep::app {

// Where work in a child process says what it has found. Any thread of the child may use it.
class ParentLine {
 public:
  explicit ParentLine(int descriptor) : descriptor_(descriptor) {}

  void say(std::string_view line);                               // without a newline in it
  [[noreturn]] void end();                                       // of the work, all well
  [[noreturn]] void end(Fault fault, std::string_view message);  // something is wrong

 private:
  void send(char kind, std::string_view line);

  const int descriptor_;
  Mutex mutex_;
};

struct ChildOptions {
  double seconds = 60;                                   // then it is killed
  std::function<bool()> stopped = [] { return false; };  // asked often; yes: it is killed
};

struct ChildEnd {
  enum class How { ended, out_of_time, stopped } how = How::ended;
  Fault fault = Fault::ours;
  std::string wrong = {};  // in one line; empty: nothing
};

// Runs `work` in a child process and passes its lines on. An exception of the work is what it says is wrong;
// so is a signal that ends the child. The child writes to the same stderr.
// Requires: this process has no other thread.
ChildEnd run_in_child(const std::function<void(ParentLine& line)>& work, const ChildOptions& options,
                      const std::function<void(std::string line)>& on_line);

}  // namespace lockstep::app
