// "Did you mean": the known name that takes the fewest edits to reach.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

// The nearest of `names` by Levenshtein distance, empty if none is near enough to be meant.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

// "; did you mean 'lenet'?" or, with nothing near, "; there are lenet, mlp".
std::string suggestion(std::string_view typed, std::span<const std::string> names);

}  // namespace lockstep
