#include "reference/pack_tree.h"

#include <cstddef>

namespace lockstep::reference {

float pack_tree(std::span<const float> sums) {
  if (sums.size() == 1) return sums[0];
  std::size_t left = 1;
  while (2 * left < sums.size()) left *= 2;
  return pack_tree(sums.first(left)) + pack_tree(sums.subspan(left));
}

}  // namespace lockstep::reference
