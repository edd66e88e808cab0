#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "arithmetic/convolution_rule.h"
#include "base/error.h"
#include "base/nearest.h"
#include "store/config_file.h"

namespace lockstep::store {
namespace {

constexpr std::size_t kMaxTextBytes = 1 << 20;  // a config has a few hundred

// A dot may open a table in a table, and the parser frees those by recursion: 16,000 deep still fit 8 MiB of
// stack.
constexpr std::ptrdiff_t kMaxDots = 4096;

// One value and where it stands.
struct Value {
  const toml::node& node;
  std::string_view file;
  std::string_view key;  // job.lr

  [[noreturn]] void refuse(std::string_view expected, std::string_view found) const {
    throw Error(Fault::usage, "{}:{}: {}: expected {}, found {}", file, node.source().begin.line, key,
                expected, found);
  }

  [[noreturn]] void refuse_type(std::string_view expected) const {
    refuse(expected, fmt::format("{} {}", node.is_array() || node.is_integer() ? "an" : "a", type_name()));
  }

  std::string_view type_name() const {
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
};

void read(std::string& into, const Value& value) {
  const toml::value<std::string>* text = value.node.as_string();
  if (text == nullptr) value.refuse_type("a string");
  into = text->get();
}

void read_hash(std::string& into, const Value& value) {
  read(into, value);
  if (!into.empty() && !from_hex(into)) value.refuse("32 hex digits, or nothing", fmt::format("{:?}", into));
}

void read_data_sizes(DataSizes& into, const Value& value) {
  std::string text;
  read(text, value);
  const std::optional<DataSizes> sizes = data_sizes_in(text);
  if (!sizes)
    value.refuse("sizes as \"60000 + 10000 pictures of 1x28x28, 10 classes\", or nothing",
                 fmt::format("{:?}", text));
  into = *sizes;
}

void read_integer(int& into, const Value& value, int least) {
  const toml::value<std::int64_t>* number = value.node.as_integer();
  if (number == nullptr) value.refuse_type("an integer");
  if (number->get() < least || number->get() > std::numeric_limits<int>::max())
    value.refuse(fmt::format("an integer from {} to {}", least, std::numeric_limits<int>::max()),
                 fmt::format("{}", number->get()));
  into = static_cast<int>(number->get());
}

void read_seed(std::uint64_t& into, const Value& value) {
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

void read_truth(bool& into, const Value& value) {
  const toml::value<bool>* truth = value.node.as_boolean();
  if (truth == nullptr) value.refuse_type("true or false");
  into = truth->get();
}

double number_of(const Value& value) {
  if (!value.node.is_number()) value.refuse_type("a number");
  return value.node.value<double>().value_or(0.0);
}

void read_rate(float& into, const Value& value) {
  const double number = number_of(value);
  into = static_cast<float>(number);
  if (!(number >= 0) || !std::isfinite(into))
    value.refuse("a finite number from 0", fmt::format("{}", number));
}

void read_momentum(float& into, const Value& value) {
  const double number = number_of(value);
  into = static_cast<float>(number);
  if (!(number >= 0) || !(into < 1)) value.refuse("a number from 0 to below 1", fmt::format("{}", number));
}

void read_seconds(double& into, const Value& value) {
  into = number_of(value);
  if (!(into > 0) || !std::isfinite(into))
    value.refuse("a finite number of seconds above 0", fmt::format("{}", into));
}

void read_convolution(arithmetic::ConvolutionRule& into, const Value& value) {
  std::string name;
  read(name, value);
  const std::optional<arithmetic::ConvolutionRule> rule = arithmetic::convolution_rule_named(name);
  if (!rule)
    value.refuse(fmt::format("\"{}\"", fmt::join(arithmetic::convolution_rule_names(), "\" or \"")),
                 fmt::format("{:?}", name));
  into = *rule;
}

void read_exchange(std::string& into, const Value& value) {
  read(into, value);
  if (into != "sharded" && into != "star") value.refuse("\"sharded\" or \"star\"", fmt::format("{:?}", into));
}

void read_devices(std::vector<std::string>& into, const Value& value) {
  const toml::array* list = value.node.as_array();
  if (list == nullptr) value.refuse_type("an array of strings");
  if (list->empty()) value.refuse("at least one device", "none");
  into.clear();
  for (const toml::node& node : *list) read(into.emplace_back(), Value{node, value.file, value.key});
}

void read_shares(std::vector<double>& into, const Value& value) {
  const toml::array* list = value.node.as_array();
  if (list == nullptr) value.refuse_type("an array of numbers");
  into.clear();
  for (const toml::node& node : *list) {
    const Value each{node, value.file, value.key};
    into.push_back(number_of(each));
    if (!(into.back() > 0) || !std::isfinite(into.back()))
      each.refuse("finite numbers above 0", fmt::format("{}", into.back()));
  }
}

struct Field {
  std::string name;
  void (*read)(RunConfig&, const Value&);
};
struct Section {
  std::string name;
  std::vector<Field> fields;
};

std::vector<Section> known_sections() {
  using C = RunConfig;
  using V = Value;
  return {{"job",
           {{"model", [](C& c, const V& v) { read(c.job.model, v); }},
            {"layers", [](C& c, const V& v) { read_hash(c.job.layers, v); }},
            {"data", [](C& c, const V& v) { read_hash(c.job.data, v); }},
            {"data_sizes", [](C& c, const V& v) { read_data_sizes(c.job.data_sizes, v); }},
            {"seed", [](C& c, const V& v) { read_seed(c.job.seed, v); }},
            {"batch", [](C& c, const V& v) { read_integer(c.job.batch, v, 1); }},
            {"lr", [](C& c, const V& v) { read_rate(c.job.lr, v); }},
            {"momentum", [](C& c, const V& v) { read_momentum(c.job.momentum, v); }},
            {"epochs", [](C& c, const V& v) { read_integer(c.job.epochs, v, 0); }},
            {"convolution", [](C& c, const V& v) { read_convolution(c.job.convolution, v); }},
            {"law", [](C& c, const V& v) { read_integer(c.job.law, v, 1); }},
            {"load", [](C& c, const V& v) { read_hash(c.job.load, v); }}}},
          {"machine",
           {{"devices", [](C& c, const V& v) { read_devices(c.machine.devices, v); }},
            {"shares", [](C& c, const V& v) { read_shares(c.machine.shares, v); }},
            {"threads", [](C& c, const V& v) { read_integer(c.machine.threads, v, 0); }},
            {"exchange", [](C& c, const V& v) { read_exchange(c.machine.exchange, v); }},
            {"shard_optimizer", [](C& c, const V& v) { read_truth(c.machine.shard_optimizer, v); }},
            {"timeout", [](C& c, const V& v) { read_seconds(c.machine.timeout, v); }},
            {"order", [](C& c, const V& v) { read(c.machine.order, v); }},
            {"data_directory", [](C& c, const V& v) { read(c.machine.data_directory, v); }}}}};
}

// The entry of that name, or the refusal that names the nearest.
template <class Named>
const Named& find_known(const std::vector<Named>& known, std::string_view name, std::string_view what,
                        std::string_view place) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Named& n) { return n.name == name; });
  if (found != known.end()) return *found;
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const Named& entry : known) names.push_back(entry.name);
  throw Error(Fault::usage, "{}: unknown {} {:?}{}", place, what, name, suggestion(name, names));
}

// The parser quotes what it found as it is, line ends too.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return line;
}

toml::table parse_toml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxTextBytes)
    throw Error(Fault::usage, "{}: expected a config of at most {} bytes, found {}", file, kMaxTextBytes,
                text.size());
  if (std::count(text.begin(), text.end(), '.') > kMaxDots)
    throw Error(Fault::usage, "{}: expected a config of at most {} dots, found more", file, kMaxDots);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(Fault::usage, "{}:{}: expected TOML: {}", file, error.source().begin.line,
                on_one_line(error.description()));
  }
}

}  // namespace

RunConfig parse_config(std::string_view text, std::string_view file) {
  RunConfig config;
  const std::vector<Section> sections = known_sections();
  const toml::table root = parse_toml(text, file);
  for (const auto& [section_key, node] : root) {
    const std::string place = fmt::format("{}:{}", file, section_key.source().begin.line);
    const Section& section = find_known(sections, section_key.str(), "section", place);
    const toml::table* table = node.as_table();
    if (table == nullptr)
      Value{node, file, section.name}.refuse_type(fmt::format("a section [{}]", section.name));
    for (const auto& [key, value] : *table) {
      const std::string line = fmt::format("{}:{}", file, key.source().begin.line);
      const Field& field =
          find_known(section.fields, key.str(), fmt::format("key in [{}]", section.name), line);
      field.read(config, {value, file, fmt::format("{}.{}", section.name, field.name)});
    }
  }
  return config;
}

}  // namespace lockstep::store
