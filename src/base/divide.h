#pragma once

namespace lockstep {

// How many pieces of `by` hold `count`.
template <class Whole>
constexpr Whole divide_up(Whole count, Whole by) {
  return (count + by - 1) / by;
}

template <class Whole>
constexpr Whole round_up(Whole value, Whole multiple) {
  return divide_up(value, multiple) * multiple;
}

}  // namespace lockstep
