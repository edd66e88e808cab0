// The same training run in many ways, and whether its weights kept their bits.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace lockstep::report {

struct VerifyRow {
  std::string devices;  // "cpu:0", "3xcpu"
  int threads = 0;      // of each device; 0: as many as suit it
  std::string exchange, order;
  std::int64_t steps = 0;
  std::string hash;  // of the weights after the last step
  double seconds = 0;
  bool equal = false;  // to the weights that all runs are held against
};

// What is compared, the aligned rows, and the verdict in words.
std::string verify_table(std::span<const VerifyRow> rows);

}  // namespace lockstep::report
