// How a test expects a refusal: an Error of a given fault, in one line.
#pragma once
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep {

// What the Error says that `action` throws. Fails the test, and is empty, if nothing is thrown.
template <class Action>
std::string refusal_of(Fault fault, Action action) {
  try {
    action();
  } catch (const Error& error) {
    std::string said = error.what();
    EXPECT_EQ(error.fault(), fault) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    return said;
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

}  // namespace lockstep
