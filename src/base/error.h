// What can go wrong, as one exception type. The world fails: throw Error with the facts and the remedy, in
// one line. We fail: check(), which is a defect report.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace lockstep {

// Whose fault it is. The value is the program's exit code.
enum class Fault {
  ours = 1,      // a defect, or something could not be written
  usage = 2,     // the call, a name, a model
  data = 3,      // a data file or a stored file
  device = 4,    // a device or the host
  diverged = 5,  // the training left the numbers
};

class Error : public std::runtime_error {
 public:
  template <class... Args>
  Error(Fault fault, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)), fault_(fault) {}

  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

// A condition that only a defect of Lockstep can break.
template <class... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw Error(Fault::ours, "defect: {}", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lockstep
