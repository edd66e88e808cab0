#include "plan_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "devices.h"
#include "output.h"
#include "plan_text.h"
#include "size_option.h"
#include "step_memory.h"
#include "train/checkpoint.h"
#include "train_flags.h"

namespace lockstep::app {
namespace {

class PlanCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("plan", "Print what a step of training takes of each device's memory");
    add_step_flags(*parser, flags_, devices_);
    add_size(*parser, size_);
    return parser;
  }

  int run() override {
    store::RunConfig config = resolve(flags_, devices_);
    if (size_)
      config.job.data_sizes = {.train = config.job.batch,
                               .test = 1,
                               .channels = size_->channels,
                               .height = size_->height,
                               .width = size_->width,
                               .classes = model::Pictures{}.classes};
    const train::Job job = train::job_of(config.job, static_cast<std::size_t>(config.job.batch));
    const std::unique_ptr<run::Crew> crew =
        devices_.make_crew({.devices = config.machine.devices, .threads = config.machine.threads});
    const auto [made, plans] =
        memory_of_step(*crew, job,
                       {.order = config.machine.order == "layer" ? device::Order::layer : device::Order::pack,
                        .exchange = &program::exchange::kind_named(config.machine.exchange),
                        .shard_optimizer = config.machine.shard_optimizer,
                        .shares = config.machine.shares});
    std::string text;
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      text += fmt::format("{}rank {}, {}\n", rank == 0 ? "" : "\n", rank, config.machine.devices[rank]);
      text += plan_text(made[rank], plans[rank]);
    }
    print_result(text);
    return 0;
  }

 private:
  TrainFlags flags_;
  Devices devices_;
  std::optional<model::Shape> size_;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace lockstep::app
