#pragma once
#include <lockstep/dataset.h>

#include "data/dataset.h"

namespace lockstep {
inline namespace api {

struct Dataset::Inside {
  data::Split split;
};

}  // namespace api
}  // namespace lockstep
