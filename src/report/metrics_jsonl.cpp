#include "report/metrics_jsonl.h"

#include <utility>

#include <fmt/core.h>

#include "report/figures.h"
#include "report/written.h"

namespace lockstep::report {

namespace {

std::string devices_json(const train::StepReport& step) {
  std::string text;
  for (std::size_t d = 0; d < step.devices.size(); ++d) {
    const run::DeviceTimes& times = step.devices[d];
    text += fmt::format(R"({}{{"packs":{},"compute":{:.6f},"exchange":{:.6f},"wait":{:.6f}}})",
                        text.empty() ? "" : ",", step.packs.at(d), times.compute, times.exchange, times.wait);
  }
  return text;
}

}  // namespace

MetricsJsonl::MetricsJsonl(std::ostream& out, std::string path) : out_(out), path_(std::move(path)) {}

// Written by hand: the JSON library widens a float to double and would print digits that were never there.
void MetricsJsonl::on_step(const train::StepReport& step) {
  out_
      << fmt::format(
             R"({{"epoch":{},"step":{},"global_step":{},"examples":{},"loss":{},"lr":{},"seconds":{},"devices":[{}]}})",
             step.epoch, step.step, step.global_step, step.examples, json_number(step.loss),
             json_number(step.learning_rate), json_number(step.seconds), devices_json(step))
      << '\n';
  require_written(out_, path_);
}

void MetricsJsonl::on_epoch(const train::EpochReport& epoch) {
  out_ << fmt::format(R"({{"epoch":{},"train_loss":{},"test_loss":{},"test_accuracy":{},"test_correct":{},)"
                      R"("test_examples":{},"seconds":{},"evaluation_seconds":{}}})",
                      epoch.epoch, json_number(epoch.train_loss), json_number(epoch.test_loss),
                      json_number(epoch.test_accuracy()), epoch.test_correct, epoch.test_examples,
                      json_number(epoch.seconds), json_number(epoch.evaluation_seconds))
       << '\n'
       << std::flush;
  require_written(out_, path_);
}

void MetricsJsonl::on_end(const train::RunEnd&) {
  out_ << std::flush;
  require_written(out_, path_);
}

}  // namespace lockstep::report
