#include "plan_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "devices.h"
#include "output.h"
#include "plan_text.h"
#include "run/memory_plans.h"
#include "train/check_groups.h"
#include "train/checkpoint.h"
#include "train/training_runner.h"
#include "train_flags.h"

namespace lockstep::app {
namespace {

class PlanCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("plan", "Print what a step of training takes of each device's memory");
    add_step_flags(*parser, flags_, devices_);
    return parser;
  }

  int run() override {
    const store::RunConfig config = resolve(flags_, devices_);
    const train::Job job = train::job_of(config.job, static_cast<std::size_t>(config.job.batch));
    train::check_groups(job.model, job.batch, static_cast<std::size_t>(job.batch));
    const std::unique_ptr<run::Crew> crew =
        devices_.make_crew({.devices = config.machine.devices, .threads = config.machine.threads});
    const train::Machine machine{.exchange = &program::exchange::kind_named(config.machine.exchange),
                                 .shard_optimizer = config.machine.shard_optimizer,
                                 .shares = config.machine.shares};
    const run::Programs programs =
        train::training_programs(job, train::data_plan(machine, crew->ranks(), crew->shares_cores()));
    const run::RunnerOptions options{
        .most_examples = job.batch,
        .order = config.machine.order == "layer" ? device::Order::layer : device::Order::pack};
    const std::vector<program::Program> made = programs.make(arithmetic::pack_count(job.batch));
    const std::vector<program::MemoryPlan> plans =
        run::memory_plans(*crew, made, run::load_options(*crew, programs, options));
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
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace lockstep::app
