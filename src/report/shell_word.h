// Names of files in commands that a user copies from the screen.
#pragma once
#include <string>

namespace lockstep::report {

// A word as a shell takes it: between quotes if a character of it means something there.
std::string shell_word(const std::string& text);

}  // namespace lockstep::report
