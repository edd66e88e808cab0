#pragma once

namespace lockstep::app {

inline constexpr double kMega = 1e6, kGiga = 1e9;      // of bytes and operations
inline constexpr double kMillis = 1e3, kMicros = 1e6;  // in a second

}  // namespace lockstep::app
