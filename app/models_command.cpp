#include "models_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "bench_options.h"
#include "devices.h"
#include "models_text.h"
#include "output.h"
#include "size_option.h"
#include "step_memory.h"

namespace lockstep::app {
namespace {

class ModelsCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("models", "Print the models: parameters, operations, memory, layers");
    parser->add_option("MODEL", name_, "One model, layer by layer: " + model::zoo_text())->type_name("");
    add_size(*parser, size_);
    add_json(*parser, json_);
    return parser;
  }

  int run() override {
    if (size_ && !name_)
      throw Error(Fault::usage, "--size: expected the name of a model before it; not all take such pictures");
    const std::vector<std::string> devices{"cpu:0"};
    const int threads = default_threads(devices);
    const std::unique_ptr<run::Crew> crew = devices_.make_crew({.devices = devices, .threads = threads});
    std::vector<ModelFacts> models;
    for (const std::string& name : name_ ? std::vector{*name_} : model::zoo_names()) {
      const train::Job job{.model = sized_model(name, size_)};
      models.push_back(facts_of(job.model));
      models.back().memory = memory_of_step(*crew, job, {}).plans.front().peak();
      batch_ = job.batch;
    }
    const std::string device = fmt::format("a CPU device of {} thread{}", threads, threads == 1 ? "" : "s");
    print_result(json_   ? models_json(models)
                 : name_ ? model_table(models.front(), device, batch_)
                         : models_table(models, device, batch_));
    return 0;
  }

 private:
  Devices devices_;
  std::optional<std::string> name_;
  std::optional<model::Shape> size_;
  int batch_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }

}  // namespace lockstep::app
