// Normal numbers of the law: the inverse of the normal distribution at a random word, in double, with the
// same bits on every host.
#pragma once
#include <cstdint>

namespace lockstep::arithmetic {

// The standard normal quantile of (word + 1/2) 2^-32. Never 0, at most 6.34 in magnitude, odd in its
// argument: normal_of_word(~word) == -normal_of_word(word).
double normal_of_word(std::uint32_t word);

}  // namespace lockstep::arithmetic
