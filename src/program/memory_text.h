// A memory plan in words, for messages.
#pragma once
#include <string>

#include "program/memory_plan.h"

namespace lockstep::program {

std::string megabytes(std::size_t bytes);  // 12.3 MB

// The bytes of each class that has some: "parameters 0.5 MB, activations 12.3 MB".
std::string classes_text(const MemoryPlan& plan);

}  // namespace lockstep::program
