// What is tried to find evidence, and what became of it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace lockstep::evidence {

// Takes one finding: a JSON object in one line.
using TakeRow = std::function<void(std::string row)>;

// Where a part says what it finds. Any thread may.
struct Findings {
  TakeRow row;
  // The part is stuck and will not return: why, in one line.
  std::function<void(Fault fault, const std::string& why)> give_up = nullptr;
};

struct Part {
  std::string name;       // of its file, without .json: "verify-lenet-fast-opencl-0"
  std::string title;      // for people: "opencl:0 against cpu:0: 5 steps of lenet, fast"
  bool compares = false;  // bits with those of the CPU

  // Gives away what it finds as soon as it finds it. Throws Error(verification) if bits differ, another Error
  // if it fails.
  std::function<void(const Findings& findings)> find = nullptr;
};

enum class Outcome {
  done,      // all rows are there, and bits that were compared are equal
  differs,   // bits that should be equal are not
  failed,    // an error ended it
  cut,       // its time was over
  left_out,  // it was not begun
};

std::string_view name_of(Outcome outcome);

struct Result {
  std::string name, title;
  bool compares = false;
  Outcome outcome = Outcome::done;
  std::string why = {};  // in one line; empty: done
  double seconds = 0;
  std::vector<std::string> rows = {};
};

}  // namespace lockstep::evidence
