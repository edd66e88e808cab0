#include "gpu/opencl/program.h"

#include <array>

#include "gpu/build_log.h"
#include "gpu/kernel_cache.h"
#include "gpu/opencl/library.h"

namespace lockstep::gpu::opencl {
namespace {

Int build(const Api& api, Program program, DeviceId device, const ProgramOptions& options) {
  return api.BuildProgram(program, 1, &device, options.facts.build.c_str(), nullptr, nullptr);
}

// Null if the driver does not take it: drivers may refuse what they made, after an update for one.
OwnedProgram from_binary(const Api& api, Context context, DeviceId device, const ProgramOptions& options,
                         const std::string& binary) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  Int status = kSuccess, error = kSuccess;
  OwnedProgram program(api.CreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error),
                       {&api});
  const bool taken =
      error == kSuccess && status == kSuccess && build(api, program.get(), device, options) == kSuccess;
  return taken ? std::move(program) : OwnedProgram();
}

// Empty if the driver does not give it.
std::string binary_of(const Api& api, Program program) {
  std::size_t size = 0;
  if (api.GetProgramInfo(program, kProgramBinarySizes, sizeof size, &size, nullptr) != kSuccess) return {};
  std::string binary(size, '\0');
  char* bytes = binary.data();
  if (api.GetProgramInfo(program, kProgramBinaries, sizeof bytes, static_cast<void*>(&bytes), nullptr) !=
      kSuccess)
    return {};
  return binary;
}

[[noreturn]] void report(const Api& api, Program program, DeviceId device, Int error,
                         const ProgramOptions& options) {
  std::size_t size = 0;
  std::string log;
  if (api.GetProgramBuildInfo(program, device, kProgramBuildLog, 0, nullptr, &size) == kSuccess) {
    log.resize(size);
    // Without its log the error says less, but it says it.
    if (api.GetProgramBuildInfo(program, device, kProgramBuildLog, size, log.data(), nullptr) != kSuccess)
      log.clear();
  }
  throw_build_error(options.facts.name, error_name(error), log, options.cache.directory);
}

OwnedProgram from_source(const Api& api, Context context, DeviceId device, const ProgramOptions& options) {
  const char* text = options.source.c_str();
  const std::size_t length = options.source.size();
  Int error = kSuccess;
  OwnedProgram program(api.CreateProgramWithSource(context, 1, &text, &length, &error), {&api});
  Library::expect(error, options.facts.name, "clCreateProgramWithSource");
  error = build(api, program.get(), device, options);
  if (error != kSuccess) report(api, program.get(), device, error, options);
  return program;
}

}  // namespace

OwnedProgram build_program(const Api& api, Context context, DeviceId device, const ProgramOptions& options) {
  const KernelCache cache(options.cache.directory);
  const Facts& facts = options.facts;
  const std::array<std::string, 7> inputs{options.source,
                                          facts.compiler,
                                          facts.build,
                                          facts.model,
                                          facts.driver,
                                          std::to_string(options.vector_floats),
                                          std::to_string(facts.units)};
  if (const std::optional<KeptKernels> kept = cache.load(inputs)) {
    if (OwnedProgram program = from_binary(api, context, device, options, kept->code)) return program;
  }
  options.cache.on_compile(facts.name);
  OwnedProgram program = from_source(api, context, device, options);
  // PoCL compiles all kernels to give it, else each when it first runs.
  if (options.cache.directory.empty()) return program;
  if (const std::string binary = binary_of(api, program.get()); !binary.empty())
    cache.keep(inputs, {facts.compiler, binary});
  return program;
}

}  // namespace lockstep::gpu::opencl
