#include "store/config_value.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "arithmetic/convolution_rule.h"
#include "arithmetic/pack.h"
#include "base/error.h"
#include "base/hash.h"

namespace lockstep::store {
namespace {

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "string";
    case toml::node_type::integer:
      return "integer";
    case toml::node_type::floating_point:
      return "fraction";
    case toml::node_type::boolean:
      return "truth value";
    case toml::node_type::array:
      return "array";
    case toml::node_type::table:
      return "table";
    default:
      return "date or time";
  }
}

double number_of(const ConfigValue& value) {
  if (!value.node.is_number()) value.refuse_type("a number");
  return value.node.value<double>().value_or(0.0);
}

}  // namespace

void ConfigValue::refuse(std::string_view expected, std::string_view found) const {
  throw Error(Fault::usage, "{}:{}: {}: expected {}, found {}", file, node.source().begin.line, key, expected,
              found);
}

void ConfigValue::refuse_type(std::string_view expected) const {
  refuse(expected, fmt::format("{} {}", node.is_array() || node.is_integer() ? "an" : "a", type_name(node)));
}

void read(std::string& into, const ConfigValue& value) {
  const toml::value<std::string>* text = value.node.as_string();
  if (text == nullptr) value.refuse_type("a string");
  into = text->get();
}

void read_hash(std::string& into, const ConfigValue& value) {
  read(into, value);
  if (!into.empty() && !from_hex(into)) value.refuse("32 hex digits, or nothing", fmt::format("{:?}", into));
}

void read_data_sizes(DataSizes& into, const ConfigValue& value) {
  std::string text;
  read(text, value);
  const std::optional<DataSizes> sizes = data_sizes_in(text);
  if (!sizes)
    value.refuse("sizes as \"60000 + 10000 pictures of 1x28x28, 10 classes\", or nothing",
                 fmt::format("{:?}", text));
  into = *sizes;
}

void read_integer(int& into, const ConfigValue& value, int least) {
  const toml::value<std::int64_t>* number = value.node.as_integer();
  if (number == nullptr) value.refuse_type("an integer");
  if (number->get() < least || number->get() > std::numeric_limits<int>::max())
    value.refuse(fmt::format("an integer from {} to {}", least, std::numeric_limits<int>::max()),
                 fmt::format("{}", number->get()));
  into = static_cast<int>(number->get());
}

void read_seed(std::uint64_t& into, const ConfigValue& value) {
  constexpr std::string_view kExpected = "an integer from 0 to 2^64 - 1, from 2^63 on as a string of digits";
  if (const toml::value<std::int64_t>* number = value.node.as_integer()) {
    if (number->get() < 0) value.refuse(kExpected, fmt::format("{}", number->get()));
    into = static_cast<std::uint64_t>(number->get());
    return;
  }
  const toml::value<std::string>* text = value.node.as_string();
  if (text == nullptr) value.refuse_type(kExpected);
  const std::string& digits = text->get();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
  if (error != std::errc{} || end != digits.data() + digits.size())
    value.refuse(kExpected, fmt::format("{:?}", digits));
}

void read_truth(bool& into, const ConfigValue& value) {
  const toml::value<bool>* truth = value.node.as_boolean();
  if (truth == nullptr) value.refuse_type("true or false");
  into = truth->get();
}

void read_rate(float& into, const ConfigValue& value) {
  const double number = number_of(value);
  into = static_cast<float>(number);
  if (!(number >= 0) || !std::isfinite(into))
    value.refuse("a finite number from 0", fmt::format("{}", number));
}

void read_number(std::optional<double>& into, const ConfigValue& value) { into = number_of(value); }

void read_momentum(std::optional<float>& into, const ConfigValue& value) {
  const double number = number_of(value);
  into = static_cast<float>(number);
  if (!(number >= 0) || !(*into < 1)) value.refuse("a number from 0 to below 1", fmt::format("{}", number));
}

void read_seconds(double& into, const ConfigValue& value) {
  into = number_of(value);
  if (!(into > 0) || !std::isfinite(into))
    value.refuse("a finite number of seconds above 0", fmt::format("{}", into));
}

void read_convolution(arithmetic::ConvolutionRule& into, const ConfigValue& value) {
  std::string name;
  read(name, value);
  const std::optional<arithmetic::ConvolutionRule> rule = arithmetic::convolution_rule_named(name);
  if (!rule)
    value.refuse(fmt::format("\"{}\"", fmt::join(arithmetic::convolution_rule_names(), "\" or \"")),
                 fmt::format("{:?}", name));
  into = *rule;
}

void read_ghost(int& into, const ConfigValue& value) {
  read_integer(into, value, 0);
  if (into % arithmetic::kPack != 0)
    value.refuse(fmt::format("a multiple of {}", arithmetic::kPack), fmt::format("{}", into));
}

void read_exchange(std::string& into, const ConfigValue& value) {
  read(into, value);
  if (into != "sharded" && into != "star") value.refuse("\"sharded\" or \"star\"", fmt::format("{:?}", into));
}

void read_devices(std::vector<std::string>& into, const ConfigValue& value) {
  const toml::array* list = value.node.as_array();
  if (list == nullptr) value.refuse_type("an array of strings");
  if (list->empty()) value.refuse("at least one device", "none");
  into.clear();
  for (const toml::node& node : *list) read(into.emplace_back(), ConfigValue{node, value.file, value.key});
}

void read_shares(std::vector<double>& into, const ConfigValue& value) {
  const toml::array* list = value.node.as_array();
  if (list == nullptr) value.refuse_type("an array of numbers");
  into.clear();
  for (const toml::node& node : *list) {
    const ConfigValue each{node, value.file, value.key};
    into.push_back(number_of(each));
    if (!(into.back() > 0) || !std::isfinite(into.back()))
      each.refuse("finite numbers above 0", fmt::format("{}", into.back()));
  }
}

}  // namespace lockstep::store
