#include "program/memory_text.h"

#include <vector>

#include <fmt/ranges.h>

namespace lockstep::program {

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string classes_text(const MemoryPlan& plan) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kMemoryClasses; ++i) {
    if (plan.by_class[i] > 0)
      parts.push_back(
          fmt::format("{} {}", name_of(static_cast<MemoryClass>(i)), megabytes(plan.by_class[i])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace lockstep::program
