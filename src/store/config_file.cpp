#include "store/config_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "arithmetic/convolution_rule.h"
#include "base/error.h"

namespace lockstep::store {
namespace {

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + '"';
}

template <class Number>
std::string shortest(Number value) {
  std::array<char, 64> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  check(error == std::errc{}, "a number that does not fit {} digits", digits.size());
  return {digits.data(), end};
}

// TOML would take digits alone for an integer.
std::string as_fraction(std::string text) {
  if (text.find_first_of(".ein") == std::string::npos) text += ".0";
  return text;
}

// The shortest digits that give the same float back when they are read as double and rounded again, as TOML's
// readers do. Rounding twice misleads a few floats (7.038531e-26): these get the digits of the double.
std::string exact(float value) {
  std::string text = shortest(value);
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  if (std::isfinite(value) && static_cast<float>(read) != value) text = shortest(double{value});
  return as_fraction(std::move(text));
}
std::string exact(double value) { return as_fraction(shortest(value)); }

// TOML's integers end at 2^63 - 1; a larger seed is a string of digits.
std::string seed_text(std::uint64_t seed) {
  const std::string digits = fmt::format("{}", seed);
  return seed <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} ? digits : toml_string(digits);
}

std::string optimizer_text(const arithmetic::Optimizer& optimizer) {
  const arithmetic::UpdateRule& rule = arithmetic::update_rule(optimizer.kind);
  std::string text;
  if (arithmetic::request_for(optimizer).kind) text += fmt::format("optimizer = \"{}\"\n", rule.name);
  if (optimizer.weight_decay != 0 || rule.usual_decay != 0)
    text += fmt::format("weight_decay = {}\n", exact(optimizer.weight_decay));
  if (rule.takes_betas)
    text += fmt::format("beta1 = {}\nbeta2 = {}\neps = {}\n", exact(optimizer.beta1), exact(optimizer.beta2),
                        exact(optimizer.eps));
  return text;
}

std::string schedule_text(const arithmetic::Schedule& schedule) {
  std::string text;
  switch (schedule.kind) {
    case arithmetic::ScheduleKind::constant:
      break;
    case arithmetic::ScheduleKind::step:
      text = fmt::format("schedule = \"step\"\nstep_epochs = {}\nstep_factor = {}\n", schedule.step_epochs,
                         exact(schedule.step_factor));
      break;
    case arithmetic::ScheduleKind::cosine:
      text = fmt::format("schedule = \"cosine\"\nlr_min = {}\n", exact(schedule.lr_min));
      break;
  }
  if (schedule.warmup != 0) text += fmt::format("warmup = {}\n", schedule.warmup);
  return text;
}

std::string job_text(const JobConfig& job) {
  return fmt::format(
      "[job]\n"
      "model = {}\n"
      "{}"
      "data = {}\n"
      "data_sizes = {}\n"
      "seed = {}\n"
      "batch = {}\n"
      "lr = {}\n"
      "momentum = {}\n"
      "{}"
      "{}"
      "epochs = {}\n"
      "convolution = {}\n"
      "{}"
      "law = {}\n"
      "load = {}\n",
      toml_string(job.model), job.layers.empty() ? "" : fmt::format("layers = {}\n", toml_string(job.layers)),
      toml_string(job.data), toml_string(to_text(job.data_sizes)), seed_text(job.seed), job.batch,
      exact(job.lr), exact(job.optimizer.momentum), optimizer_text(job.optimizer),
      schedule_text(job.schedule), job.epochs, toml_string(arithmetic::name_of(job.convolution)),
      job.ghost == 0 ? "" : fmt::format("ghost = {}\n", job.ghost), job.law, toml_string(job.load));
}

std::string machine_text(const MachineConfig& machine) {
  std::vector<std::string> devices;
  devices.reserve(machine.devices.size());
  for (const std::string& device : machine.devices) devices.push_back(toml_string(device));
  std::vector<std::string> shares;
  shares.reserve(machine.shares.size());
  for (const double share : machine.shares) shares.push_back(exact(share));
  return fmt::format(
      "[machine]\n"
      "devices = [{}]\n"
      "shares = [{}]\n"
      "threads = {}\n"
      "exchange = {}\n"
      "shard_optimizer = {}\n"
      "timeout = {}\n"
      "order = {}\n"
      "data_directory = {}\n",
      fmt::join(devices, ", "), fmt::join(shares, ", "), machine.threads, toml_string(machine.exchange),
      machine.shard_optimizer, exact(machine.timeout), toml_string(machine.order),
      toml_string(machine.data_directory));
}

}  // namespace

std::string to_toml(const RunConfig& config) {
  return job_text(config.job) + "\n" + machine_text(config.machine);
}

Hash128 job_hash(const RunConfig& config) {
  const std::string text = job_text(config.job);
  return hash128(std::as_bytes(std::span(text)));
}

}  // namespace lockstep::store
