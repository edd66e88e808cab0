// Reads a configuration's text.
#include "driver/configuration.h"

#include <charconv>

#include "problem.h"

namespace standin {
namespace {

std::uint64_t number(std::string_view key, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Problem(Code::invalid_value, "CUDA_STANDIN: {}={} is no number", key, text);
  }
  return value;
}

void set(Configuration& configuration, std::string_view key, std::string_view value) {
  if (key == "devices") {
    configuration.devices = static_cast<int>(number(key, value));
  } else if (key == "memory") {
    configuration.memory = number(key, value);
  } else if (key == "capability") {
    configuration.capability = static_cast<int>(number(key, value));
  } else if (key == "order" && (value == "shuffled" || value == "natural")) {
    configuration.shuffled = value == "shuffled";
  } else if (key == "seed") {
    configuration.seed = number(key, value);
  } else if (key == "lose") {
    const std::size_t at = value.find('@');
    if (at == value.npos)
      throw Problem(Code::invalid_value, "CUDA_STANDIN: lose={} is not DEVICE@LAUNCH", value);
    configuration.lose[static_cast<int>(number(key, value.substr(0, at)))] =
        number(key, value.substr(at + 1));
  } else if (key == "unlike") {
    configuration.unlike = number(key, value) != 0;
  } else if (key == "peer") {
    configuration.peer = number(key, value) != 0;
  } else if (key == "ftz") {
    configuration.defects.flush_denormals = number(key, value) != 0;
  } else if (key == "contract") {
    configuration.defects.contract = number(key, value) != 0;
  } else if (key == "budget") {
    configuration.budget = number(key, value);
  } else {
    throw Problem(Code::invalid_value, "CUDA_STANDIN: '{}={}' is not known", key, value);
  }
}

}  // namespace

Configuration parse_configuration(std::string_view text) {
  Configuration configuration;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == item.npos) throw Problem(Code::invalid_value, "CUDA_STANDIN: '{}' has no value", item);
    set(configuration, item.substr(0, equals), item.substr(equals + 1));
  }
  return configuration;
}

}  // namespace standin
