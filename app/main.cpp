#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/float_environment.h"
#include "bench_command.h"
#include "command_line.h"
#include "devices_command.h"
#include "diff_command.h"
#include "eval_command.h"
#include "models_command.h"
#include "output.h"
#include "plan_command.h"
#include "sweep_command.h"
#include "train_command.h"
#include "verify_command.h"

namespace lockstep::app {
namespace {

int run(std::vector<std::string> arguments) {
  const FloatEnvironment environment;  // a library that is loaded before main() may have set another
  prepare_standard_streams();
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_train_command());
  commands.push_back(make_models_command());
  commands.push_back(make_plan_command());
  commands.push_back(make_eval_command());
  commands.push_back(make_verify_command());
  commands.push_back(make_diff_command());
  commands.push_back(make_sweep_command());
  commands.push_back(make_bench_command());
  commands.push_back(make_devices_command());
  return CommandLine(std::move(commands)).run(std::move(arguments));
}

int failed(std::string_view message, Fault fault) {
  print_error(message);
  return static_cast<int>(fault);
}

}  // namespace
}  // namespace lockstep::app

int main(int argc, char** argv) {
  using lockstep::Fault;
  using lockstep::app::failed;
  try {
    return lockstep::app::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const lockstep::Error& error) {
    return failed(error.what(), error.fault());
  } catch (const std::bad_alloc&) {
    return failed("out of memory; try a smaller --batch, fewer --threads or --order pack", Fault::device);
  } catch (const std::filesystem::filesystem_error& error) {
    return failed(fmt::format("{}: {}", error.path1().string(), error.code().message()), Fault::ours);
  } catch (const std::exception& error) {
    return failed(error.what(), Fault::ours);
  }
}
