// Any text as a JSON string.
#pragma once
#include <string>
#include <string_view>

namespace lockstep::report {

// With its quotes. Bytes that are not UTF-8 become U+FFFD, so the result is valid JSON for every name.
std::string json_string(std::string_view text);

}  // namespace lockstep::report
