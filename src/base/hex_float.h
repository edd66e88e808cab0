// Floats as text that means the same number to every compiler.
#pragma once
#include <string>

namespace lockstep {

// "-0x1.8p+1", as C and OpenCL C write it; "inf", "-inf" and "nan". The point is a point in every locale: a
// user's program may have called setlocale(), which printf and libraries built on it follow.
std::string hex_float(float value);

}  // namespace lockstep
