#include "verify_text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "device/device_list.h"

namespace lockstep::app {

report::VerifyRow verify_row(const audit::SettingResult& result) {
  return {
      .devices = device::to_text(result.setting.devices),
      .threads = result.setting.threads,
      .exchange = std::string(result.setting.machine.exchange->name),
      .order = result.setting.machine.order == device::Order::pack ? "pack" : "layer",
      .steps = result.difference ? result.difference->step : static_cast<std::int64_t>(result.hashes.size()),
      .hash = to_hex(result.weights),
      .seconds = result.seconds,
      .equal = !result.difference};
}

std::string difference_text(const audit::Setting& setting, const audit::ReplicaDifference& difference) {
  return fmt::format("{}, {}: step {}, {}: {}", device::to_text(setting.devices),
                     setting.machine.exchange->name, difference.step, difference.device_name,
                     to_text(difference.element));
}

std::string verify_json(const audit::SettingResult& result) {
  const report::VerifyRow row = verify_row(result);
  nlohmann::ordered_json json{{"devices", result.setting.devices},
                              {"threads", row.threads},
                              {"exchange", row.exchange},
                              {"order", row.order},
                              {"steps", row.steps},
                              {"weights", row.hash},
                              {"equal", row.equal},
                              {"seconds", row.seconds}};
  if (result.difference) json["difference"] = difference_text(result.setting, *result.difference);
  for (const std::vector<Hash128>& step : result.hashes) {
    std::vector<std::string> hashes;
    std::ranges::transform(step, std::back_inserter(hashes), to_hex);
    json["hashes"].push_back(hashes);
  }
  return json.dump();
}

}  // namespace lockstep::app
