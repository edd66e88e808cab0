// What Highway's library would answer on this processor; only its headers are at hand for ARM.
#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() { return HWY_NEON; }

}  // namespace hwy
