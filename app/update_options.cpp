#include "update_options.h"

#include <algorithm>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "numbers.h"

namespace lockstep::app {
namespace {

constexpr WholeRange kStepEpochs{1, std::numeric_limits<int>::max()};
constexpr WholeRange kWarmup{0, std::numeric_limits<int>::max()};

// weight_decay is --weight-decay.
std::string option_of(std::string_view name) {
  std::string option = fmt::format("--{}", name);
  std::ranges::replace(option, '_', '-');
  return option;
}

template <class Value>
void replace_given(std::optional<Value>& value, const std::optional<Value>& flag) {
  if (flag) value = flag;
}

}  // namespace

void add_update_options(CLI::App& parser, UpdateFlags& flags, const std::string& group) {
  const auto add = [&](const char* name, const char* type, const std::string& words, const auto& read) {
    CLI::Option* const option = parser.add_option_function<std::string>(
        name, [name, read](const std::string& text) { read(name, text); }, words);
    option->type_name(type);
    if (!group.empty()) option->group(group);
  };
  const auto add_number = [&](const char* name, const char* words, std::optional<double>& into) {
    add(name, "X", words,
        [&into](const char* option, const std::string& text) { into = number(option, text); });
  };
  arithmetic::OptimizerRequest& optimizer = flags.optimizer;
  arithmetic::ScheduleRequest& schedule = flags.schedule;

  add("--optimizer", "NAME",
      fmt::format("How weights are updated: {} (default: sgd, or momentum if --momentum is above 0)",
                  fmt::join(arithmetic::update_kind_names(), ", ")),
      [&optimizer](const char* option, const std::string& text) {
        optimizer.kind =
            arithmetic::update_kind_named(known_name(option, text, arithmetic::update_kind_names()));
      });
  add("--momentum", "X", "Momentum of SGD, from 0 to below 1 (default 0; 0.9 of momentum and nesterov)",
      [&optimizer](const char* option, const std::string& text) {
        optimizer.momentum = fraction(option, text);
      });
  add_number("--weight-decay", "Pulls weights, not biases, towards 0; from 0 (default 0; 0.01 of adamw)",
             optimizer.weight_decay);
  add_number("--beta1",
             "Of adam and adamw: how much of the mean gradient is kept, from 0 to below 1 (default 0.9)",
             optimizer.beta1);
  add_number("--beta2",
             "Of adam and adamw: how much of the mean square is kept, from 0 to below 1 (default 0.999)",
             optimizer.beta2);
  add_number("--eps", "Of adam and adamw: added to the root of the mean square, above 0 (default 1e-8)",
             optimizer.eps);

  add("--schedule", "NAME",
      "How the learning rate changes: constant (default); step: times --step-factor every --step-epochs;\n"
      "cosine: down to --lr-min at the end of the last epoch",
      [&schedule](const char* option, const std::string& text) {
        schedule.kind =
            arithmetic::schedule_kind_named(known_name(option, text, arithmetic::schedule_kind_names()));
      });
  add("--step-epochs", "N", "Of the schedule step: epochs between two drops of the learning rate",
      [&schedule](const char* option, const std::string& text) {
        schedule.step_epochs = whole_number(option, text, kStepEpochs);
      });
  add_number("--step-factor", "Of the schedule step: above 0, at most 1 (default 0.1)", schedule.step_factor);
  add_number("--lr-min", "Of the schedule cosine: the least learning rate (default 0)", schedule.lr_min);
  add("--warmup", "N", "Steps at the beginning in which the learning rate grows in equal parts (default 0)",
      [&schedule](const char* option, const std::string& text) {
        schedule.warmup = whole_number(option, text, kWarmup);
      });
}

std::vector<std::string> given_options(const UpdateFlags& flags) {
  std::vector<std::string> given;
  const auto note = [&](const auto& value, std::string_view name) {
    if (value) given.push_back(option_of(name));
  };
  note(flags.optimizer.kind, "optimizer");
  note(flags.optimizer.momentum, "momentum");
  note(flags.optimizer.weight_decay, "weight_decay");
  note(flags.optimizer.beta1, "beta1");
  note(flags.optimizer.beta2, "beta2");
  note(flags.optimizer.eps, "eps");
  note(flags.schedule.kind, "schedule");
  note(flags.schedule.step_epochs, "step_epochs");
  note(flags.schedule.step_factor, "step_factor");
  note(flags.schedule.lr_min, "lr_min");
  note(flags.schedule.warmup, "warmup");
  return given;
}

arithmetic::Optimizer optimizer_of(const UpdateFlags& flags, const arithmetic::Optimizer& there) {
  const arithmetic::OptimizerRequest& asked = flags.optimizer;
  const bool another = asked.kind && *asked.kind != there.kind;
  arithmetic::OptimizerRequest request = another ? arithmetic::OptimizerRequest{} : request_for(there);
  replace_given(request.kind, asked.kind);
  replace_given(request.momentum, asked.momentum);
  replace_given(request.weight_decay, asked.weight_decay);
  replace_given(request.beta1, asked.beta1);
  replace_given(request.beta2, asked.beta2);
  replace_given(request.eps, asked.eps);
  return resolve(request, option_of);
}

arithmetic::Schedule schedule_of(const UpdateFlags& flags, const arithmetic::Schedule& there) {
  const arithmetic::ScheduleRequest& asked = flags.schedule;
  const bool another = asked.kind && *asked.kind != there.kind;
  arithmetic::ScheduleRequest request = another ? arithmetic::ScheduleRequest{} : request_for(there);
  replace_given(request.kind, asked.kind);
  replace_given(request.step_epochs, asked.step_epochs);
  replace_given(request.step_factor, asked.step_factor);
  replace_given(request.lr_min, asked.lr_min);
  replace_given(request.warmup, asked.warmup);
  return resolve(request, option_of);
}

}  // namespace lockstep::app
