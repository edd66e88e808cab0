#include "report/json_string.h"

#include <nlohmann/json.hpp>

namespace lockstep::report {

std::string json_string(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lockstep::report
