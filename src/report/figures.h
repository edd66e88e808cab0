// Numbers as people read them, independent of any locale.
#pragma once
#include <cstdint>
#include <string>

namespace lockstep::report {

std::string grouped(std::int64_t number);  // 41,200
std::string clock_time(double seconds);    // 0:21, 12:05, 1:02:03; rounded up, so it ends at 0:00
std::string json_number(float value);      // shortest that reads back exactly; null if not finite
std::string json_number(double value);

}  // namespace lockstep::report
