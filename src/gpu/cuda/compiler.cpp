#include "gpu/cuda/compiler.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "gpu/build_log.h"
#include "gpu/cuda/library.h"
#include "gpu/kernel_cache.h"

namespace lockstep::gpu::cuda {
namespace {

// Nothing is fused, flushed or approximated; a fused multiply-add is written where the law has one.
constexpr std::array kBuildOptions{"--fmad=false",     "--ftz=false", "--prec-div=true",
                                   "--prec-sqrt=true", "-std=c++17",  "--device-as-default-execution-space"};

constexpr int kOldestOfNvrtc13 = 75;  // compute capability

std::vector<std::string> usual_paths(int driver_version) {
  std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12"};
  if (driver_version / 1000 <= 12) std::ranges::reverse(names);
  std::vector<std::string> paths = names;
  for (const std::string& name : names) paths.push_back("/usr/local/cuda/lib64/" + name);
  paths.push_back("/usr/local/cuda/lib64/libnvrtc.so");
  return paths;
}

// A driver takes what NVRTC of its own major version makes, and what older ones make.
std::string remedy(const Target& target) {
  const bool too_old_for_13 = target.capability < kOldestOfNvrtc13;
  const int major = too_old_for_13 ? 12 : target.driver_version / 1000;
  return fmt::format("`pip install {}` or the toolkit of CUDA {}",
                     major <= 12 ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc", major);
}

// A program of NVRTC's, for as long as it is needed.
class Program {
 public:
  using SizeFunction = Result (*)(NvrtcProgram, std::size_t*);
  using TextFunction = Result (*)(NvrtcProgram, char*);

  Program(const NvrtcApi& api, const std::string& device, const std::string& source)
      : api_(api), device_(device) {
    expect(api_.CreateProgram(&program_, source.c_str(), "kernels.cu", 0, nullptr, nullptr),
           "nvrtcCreateProgram");
  }
  ~Program() { api_.DestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result compile(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    texts.reserve(options.size());
    for (const std::string& option : options) texts.push_back(option.c_str());
    return api_.CompileProgram(program_, static_cast<int>(texts.size()), texts.data());
  }

  std::string ptx() const { return without_end(output(api_.GetPTXSize, api_.GetPTX, "nvrtcGetPTX")); }
  std::string cubin() const { return output(api_.GetCUBINSize, api_.GetCUBIN, "nvrtcGetCUBIN"); }
  std::string log() const {
    return without_end(output(api_.GetProgramLogSize, api_.GetProgramLog, "nvrtcGetProgramLog"));
  }

 private:
  void expect(Result error, std::string_view call) const {
    if (error != kSuccess)
      throw Error(Fault::device, "{}: {} failed: {}", device_, call, api_.GetErrorString(error));
  }
  std::string output(SizeFunction get_size, TextFunction get, std::string_view call) const {
    std::size_t size = 0;
    expect(get_size(program_, &size), call);
    std::string text(size, '\0');
    expect(get(program_, text.data()), call);
    return text;
  }
  // NVRTC counts the zero that ends a text.
  static std::string without_end(std::string text) {
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  const NvrtcApi& api_;
  const std::string& device_;
  NvrtcProgram program_ = nullptr;
};

std::vector<std::string> options_for(const Target& target) {
  std::vector<std::string> options(kBuildOptions.begin(), kBuildOptions.end());
  options.insert(options.end(), target.more_build_options.begin(), target.more_build_options.end());
  return options;
}

// The highest architecture from `lowest` to the target's.
int architecture_for(const NvrtcLibrary& nvrtc, const Target& target, int lowest) {
  int best = 0;
  for (const int architecture : nvrtc.architectures()) {
    if (architecture >= lowest && architecture <= target.capability) best = std::max(best, architecture);
  }
  if (best == 0)
    throw Error(Fault::device,
                "{}: NVRTC {} does not compile for its compute capability {}.{}; {} brings one that does",
                target.device, version_text(nvrtc.version()), target.capability / 10, target.capability % 10,
                remedy(target));
  return best;
}

// `architecture` is a virtual one (compute_90), for PTX, or a real one (sm_90).
void build(Program& program, const NvrtcLibrary& nvrtc, const Target& target,
           const std::string& architecture) {
  std::vector<std::string> options = options_for(target);
  options.push_back("--gpu-architecture=" + architecture);
  if (const Result error = program.compile(options); error != kSuccess)
    throw_build_error(target.device, nvrtc.api().GetErrorString(error), program.log(),
                      target.cache.directory);
}

// Of those there are, the first that compiles for the device; else the first. Null if there is none;
// `problem` then says why.
std::shared_ptr<const NvrtcLibrary> open_for(const BuildOptions& options, std::string& problem) {
  const Target& target = options.target;
  std::shared_ptr<const NvrtcLibrary> first =
      NvrtcLibrary::open(options.nvrtc_library, target.driver_version, problem);
  if (!first) return nullptr;
  const auto serves = [&](const NvrtcLibrary& nvrtc) {
    return std::ranges::any_of(nvrtc.architectures(), [&](int a) { return a <= target.capability; });
  };
  if (serves(*first) || !options.nvrtc_library.empty()) return first;
  for (const std::string& path : usual_paths(target.driver_version)) {
    std::string ignored;
    auto other = NvrtcLibrary::open(path, target.driver_version, ignored);
    if (other && serves(*other)) return other;
  }
  return first;
}

// The driver makes no code of PTX; it may take the device's own.
bool takes_no_ptx(Result error) {
  return error == kJitCompilerNotFound || error == kUnsupportedPtxVersion || error == kJitCompilationDisabled;
}

}  // namespace

std::shared_ptr<const NvrtcLibrary> NvrtcLibrary::open(const std::string& path, int driver_version,
                                                       std::string& problem) {
  const std::vector<std::string> paths =
      path.empty() ? usual_paths(driver_version) : std::vector<std::string>{path};
  std::string why;
  std::unique_ptr<SharedLibrary> library = SharedLibrary::open(paths, why);
  if (!library) {
    problem = fmt::format("no NVRTC found ({})", why);
    return nullptr;
  }
  std::shared_ptr<NvrtcLibrary> opened(new NvrtcLibrary(std::move(library)));
  const NvrtcApi& api = opened->api_;
  const std::string& name = opened->library_->path();
#define LOCKSTEP_NVRTC_FIND(function, symbol, ...)                                                         \
  opened->api_.function = reinterpret_cast<NvrtcApi::function##Function*>(opened->library_->find(symbol)); \
  if (api.function == nullptr) {                                                                           \
    problem = fmt::format("{} has no function " symbol "; NVRTC 12 or newer is needed", name);             \
    return nullptr;                                                                                        \
  }
  LOCKSTEP_NVRTC_FUNCTIONS(LOCKSTEP_NVRTC_FIND)
#undef LOCKSTEP_NVRTC_FIND
  int major = 0, minor = 0, count = 0;
  Result error = api.Version(&major, &minor);
  if (error == kSuccess) error = api.GetNumSupportedArchs(&count);
  opened->architectures_.resize(static_cast<std::size_t>(count));
  if (error == kSuccess) error = api.GetSupportedArchs(opened->architectures_.data());
  if (error != kSuccess) {
    problem = fmt::format("{} does not say what it compiles for: {}", name, api.GetErrorString(error));
    return nullptr;
  }
  opened->version_ = major * 1000 + minor * 10;
  return opened;
}

std::string compile_ptx(const NvrtcLibrary& nvrtc, const std::string& source, const Target& target) {
  Program program(nvrtc.api(), target.device, source);
  build(program, nvrtc, target, fmt::format("compute_{}", architecture_for(nvrtc, target, 0)));
  return program.ptx();
}

std::string compile_cubin(const NvrtcLibrary& nvrtc, const std::string& source, const Target& target) {
  // A device runs the code of its own major version, up to its own minor one.
  const int lowest = target.capability / 10 * 10;
  Program program(nvrtc.api(), target.device, source);
  build(program, nvrtc, target, fmt::format("sm_{}", architecture_for(nvrtc, target, lowest)));
  return program.cubin();
}

std::vector<std::string> inputs_of(const std::string& source, const Target& target) {
  std::vector<std::string> inputs = options_for(target);
  inputs.insert(inputs.end(),
                {source, std::to_string(target.capability), std::to_string(target.driver_version)});
  return inputs;
}

Result load_kernels(const std::string& source, const BuildOptions& options,
                    const std::function<Result(const std::string& code)>& load) {
  const Target& target = options.target;
  const std::vector<std::string> inputs = inputs_of(source, target);
  const KernelCache cache(target.cache.directory);
  std::string problem;
  const std::shared_ptr<const NvrtcLibrary> nvrtc = open_for(options, problem);
  const std::string compiler = nvrtc ? "NVRTC " + version_text(nvrtc->version()) : "";
  const std::optional<KeptKernels> kept = cache.load(inputs);
  if (kept && (!nvrtc || kept->compiler == compiler) && load(kept->code) == kSuccess) return kSuccess;
  if (!nvrtc)
    throw Error(Fault::device,
                "{}: CUDA's compiler is missing: {}; {} brings it (LOCKSTEP_NVRTC_LIBRARY says where a "
                "wheel's libnvrtc.so is)",
                target.device, problem, remedy(target));
  target.cache.on_compile(target.device);
  std::string code = compile_ptx(*nvrtc, source, target);
  Result result = load(code);
  if (const Result refused = result; takes_no_ptx(refused)) {
    code = compile_cubin(*nvrtc, source, target);
    result = load(code);
    if (result != kSuccess && refused == kUnsupportedPtxVersion)
      throw Error(Fault::device,
                  "{}: its driver, of CUDA {}, does not take what NVRTC {} makes; {} brings one that fits",
                  target.device, version_text(target.driver_version), version_text(nvrtc->version()),
                  remedy(target));
  }
  if (result == kSuccess) cache.keep(inputs, {compiler, code});
  return result;
}

}  // namespace lockstep::gpu::cuda
