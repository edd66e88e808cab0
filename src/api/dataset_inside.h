#pragma once
#include <lockstep/dataset.h>

#include "data/dataset.h"

namespace lockstep {
inline namespace api {

struct Dataset::Inside {
  data::Split split;
  std::vector<std::string> class_names;  // one a class
};

}  // namespace api
}  // namespace lockstep
