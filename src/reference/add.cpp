#include "reference/add.h"

#include <cstddef>

namespace lockstep::reference {

std::vector<float> add(std::span<const float> a, std::span<const float> b) {
  std::vector<float> sum(a.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

}  // namespace lockstep::reference
