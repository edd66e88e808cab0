// What can go wrong, as one exception type.
#pragma once
#include <stdexcept>
#include <type_traits>

namespace lockstep {

// Whose fault it is. The value is the program's exit code.
enum class Fault {
  ours = 1,          // a defect, or something could not be written
  usage = 2,         // the call, a name, a model
  data = 3,          // a data file or a stored file
  device = 4,        // a device or the host
  diverged = 5,      // a number of the training is NaN or infinite
  verification = 6,  // bits that should be equal are not
};

// How the library writes its messages. Only its sources know what it is.
template <class... Args>
struct MessageFormat;

// what() is one line: the facts and the remedy.
class Error : public std::runtime_error {
 public:
  template <class... Args>
  Error(Fault fault, MessageFormat<std::type_identity_t<Args>...> format, Args&&... args);

  Fault fault() const noexcept { return fault_; }

  // What a program that ends because of it should return.
  int exit_code() const noexcept { return static_cast<int>(fault_); }

 private:
  Fault fault_;
};

}  // namespace lockstep
