// The keys of config.toml, and how its text becomes a config.
#include <algorithm>
#include <cstddef>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "store/config_file.h"
#include "store/config_value.h"

namespace lockstep::store {
namespace {

constexpr std::size_t kMaxTextBytes = 1 << 20;  // a config has a few hundred

// A dot may open a table in a table, and the parser frees those by recursion: 16,000 deep still fit 8 MiB of
// stack.
constexpr std::ptrdiff_t kMaxDots = 4096;

// A config while it is read. What the keys of the update mean depends on the optimizer and the schedule.
struct Draft {
  RunConfig config = {};
  std::optional<float> lr = {};
  arithmetic::OptimizerRequest optimizer = {};
  arithmetic::ScheduleRequest schedule = {};
};

template <auto kNamed, class Kind>
void read_kind(std::optional<Kind>& into, const ConfigValue& value, const std::vector<std::string>& names) {
  std::string name;
  read(name, value);
  into = kNamed(name);
  if (!into)
    value.refuse(fmt::format("\"{}\"", fmt::join(names, "\" or \"")),
                 fmt::format("{:?}{}", name, suggestion(name, names)));
}

struct Field {
  std::string name;
  void (*read)(Draft&, const ConfigValue&);
};
struct Section {
  std::string name;
  std::vector<Field> fields;
};

std::vector<Field> job_fields() {
  using D = Draft;
  using V = ConfigValue;
  return {{"model", [](D& d, const V& v) { read(d.config.job.model, v); }},
          {"layers", [](D& d, const V& v) { read_hash(d.config.job.layers, v); }},
          {"data", [](D& d, const V& v) { read_hash(d.config.job.data, v); }},
          {"data_sizes", [](D& d, const V& v) { read_data_sizes(d.config.job.data_sizes, v); }},
          {"seed", [](D& d, const V& v) { read_seed(d.config.job.seed, v); }},
          {"batch", [](D& d, const V& v) { read_integer(d.config.job.batch, v, 1); }},
          {"lr", [](D& d, const V& v) { read_rate(d.lr.emplace(), v); }},
          {"momentum", [](D& d, const V& v) { read_momentum(d.optimizer.momentum, v); }},
          {"optimizer",
           [](D& d, const V& v) {
             read_kind<arithmetic::update_kind_named>(d.optimizer.kind, v, arithmetic::update_kind_names());
           }},
          {"weight_decay", [](D& d, const V& v) { read_number(d.optimizer.weight_decay, v); }},
          {"beta1", [](D& d, const V& v) { read_number(d.optimizer.beta1, v); }},
          {"beta2", [](D& d, const V& v) { read_number(d.optimizer.beta2, v); }},
          {"eps", [](D& d, const V& v) { read_number(d.optimizer.eps, v); }},
          {"schedule",
           [](D& d, const V& v) {
             read_kind<arithmetic::schedule_kind_named>(d.schedule.kind, v,
                                                        arithmetic::schedule_kind_names());
           }},
          {"step_epochs", [](D& d, const V& v) { read_integer(d.schedule.step_epochs.emplace(), v, 1); }},
          {"step_factor", [](D& d, const V& v) { read_number(d.schedule.step_factor, v); }},
          {"lr_min", [](D& d, const V& v) { read_number(d.schedule.lr_min, v); }},
          {"warmup",
           [](D& d, const V& v) {
             int steps = 0;
             read_integer(steps, v, 0);
             d.schedule.warmup = steps;
           }},
          {"epochs", [](D& d, const V& v) { read_integer(d.config.job.epochs, v, 0); }},
          {"convolution", [](D& d, const V& v) { read_convolution(d.config.job.convolution, v); }},
          {"ghost", [](D& d, const V& v) { read_ghost(d.config.job.ghost, v); }},
          {"law", [](D& d, const V& v) { read_integer(d.config.job.law, v, 1); }},
          {"load", [](D& d, const V& v) { read_hash(d.config.job.load, v); }}};
}

std::vector<Field> machine_fields() {
  using D = Draft;
  using V = ConfigValue;
  return {{"devices", [](D& d, const V& v) { read_devices(d.config.machine.devices, v); }},
          {"shares", [](D& d, const V& v) { read_shares(d.config.machine.shares, v); }},
          {"threads", [](D& d, const V& v) { read_integer(d.config.machine.threads, v, 0); }},
          {"exchange", [](D& d, const V& v) { read_exchange(d.config.machine.exchange, v); }},
          {"shard_optimizer", [](D& d, const V& v) { read_truth(d.config.machine.shard_optimizer, v); }},
          {"timeout", [](D& d, const V& v) { read_seconds(d.config.machine.timeout, v); }},
          {"order", [](D& d, const V& v) { read(d.config.machine.order, v); }},
          {"data_directory", [](D& d, const V& v) { read(d.config.machine.data_directory, v); }}};
}

std::vector<Section> known_sections() { return {{"job", job_fields()}, {"machine", machine_fields()}}; }

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

// The update's keys, now that all of them are read.
void finish(Draft& draft, const arithmetic::OptionName& name) {
  JobConfig& job = draft.config.job;
  job.optimizer = arithmetic::resolve(draft.optimizer, name);
  job.schedule = arithmetic::resolve(draft.schedule, name);
  job.lr = draft.lr.value_or(arithmetic::update_rule(job.optimizer.kind).usual_rate);
}

}  // namespace

RunConfig parse_config(std::string_view text, std::string_view file) {
  Draft draft;
  std::map<std::string, std::int64_t> lines;  // by section and key
  const std::vector<Section> sections = known_sections();
  const toml::table root = parse_toml(text, file);
  for (const auto& [section_key, node] : root) {
    const std::string place = fmt::format("{}:{}", file, section_key.source().begin.line);
    const Section& section = find_known(sections, section_key.str(), "section", place);
    const toml::table* table = node.as_table();
    if (table == nullptr)
      ConfigValue{node, file, section.name}.refuse_type(fmt::format("a section [{}]", section.name));
    for (const auto& [key, value] : *table) {
      const std::string line = fmt::format("{}:{}", file, key.source().begin.line);
      const Field& field =
          find_known(section.fields, key.str(), fmt::format("key in [{}]", section.name), line);
      const std::string name = fmt::format("{}.{}", section.name, field.name);
      field.read(draft, {value, file, name});
      lines[name] = key.source().begin.line;
    }
  }
  finish(draft, [&](std::string_view option) {
    const std::string key = fmt::format("job.{}", option);
    const auto line = lines.find(key);
    return line == lines.end() ? fmt::format("{}: {}", file, key)
                               : fmt::format("{}:{}: {}", file, line->second, key);
  });
  return std::move(draft.config);
}

}  // namespace lockstep::store
