#include "device/device.h"

#include <algorithm>

namespace lockstep::device {

int most_of_share(const LoadOptions& options) {
  int most = 0;
  for (int packs = 1; packs <= arithmetic::pack_count(options.most_examples); ++packs)
    most = std::max(most, options.share(packs).size());
  return most;
}

}  // namespace lockstep::device
