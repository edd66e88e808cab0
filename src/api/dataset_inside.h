#pragma once
#include <lockstep/dataset.h>

#include "data/dataset.h"

namespace lockstep {
inline namespace api {

struct Dataset::Inside {
  data::Split split;
  std::vector<std::string> class_names;  // one a class
  std::filesystem::path directory = {};  // where it was read from; empty: it came from memory
};

}  // namespace api
}  // namespace lockstep
