// The one exception of the stand-in: a driver result code and a text that says what went wrong and where.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace standin {

// The numbers of CUresult that the stand-in returns.
enum class Code : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  misaligned_address = 716,
  launch_failed = 719,
  unknown = 999,
};

class Problem : public std::runtime_error {
 public:
  template <class... Arguments>
  Problem(Code code, fmt::format_string<Arguments...> text, Arguments&&... arguments)
      : std::runtime_error(fmt::format(text, std::forward<Arguments>(arguments)...)), code_(code) {}

  Code code() const { return code_; }

 private:
  Code code_;
};

}  // namespace standin
