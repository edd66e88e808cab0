#include "inventory/inventory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/deadline.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "cpu/cpu_device.h"
#include "device/device_list.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/gpu_device.h"
#include "gpu/kept_file.h"
#include "gpu/opencl/choice.h"
#include "gpu/probe.h"
#include "gpu/proof.h"
#include "gpu/rate.h"

namespace lockstep::inventory {
namespace {

gpu::CacheOptions kernels_in(const InventoryOptions& options) {
  gpu::CacheOptions cache(options.cache);
  cache.on_compile = [&options](const std::string& device) {
    std::string line = fmt::format("{}: compiling its kernels", device);
    if (!options.cache.empty()) {
      const std::string problem = gpu::problem_with(options.cache);
      line += problem.empty() ? fmt::format("; the next start finds them in {}", options.cache.string())
                              : fmt::format("; {} cannot keep them: {}", options.cache.string(), problem);
    }
    options.on_wait(line);
  };
  return cache;
}

// Until the device has answered.
Deadline answer_of(const gpu::Driver& driver, const InventoryOptions& options) {
  return Deadline(options.timeout, [&options, name = driver.facts().name] {
    options.on_stuck(fmt::format("{}: no answer for {} s while it proves its arithmetic", name,
                                 std::chrono::duration<double>(options.timeout).count()));
  });
}

// What an action says is wrong, or what it throws.
template <class Action>
std::string problem_of(Action action) {
  try {
    return action();
  } catch (const Error& error) {
    return error.what();
  }
}

Listed listed_from(const gpu::Facts& facts, std::string kind, bool on_cores) {
  return {facts.name,   std::move(kind), facts.model, facts.driver,
          facts.memory, facts.units,     facts.gpu,   on_cores};
}

}  // namespace

// What was found of every kind that needs a library.
struct Inventory::Kinds {
  explicit Kinds(const InventoryOptions& options) : proofs(options.cache) {
    // A driver that fails is one that is not there: the others still are.
    no_cuda = problem_of([&] {
      const FloatEnvironment environment;
      return find_cuda(options);
    });
    if (!no_cuda.empty()) missing.push_back(no_cuda);
    no_opencl = problem_of([&] {
      const FloatEnvironment environment;
      return find_opencl();
    });
    if (!no_opencl.empty()) missing.push_back(no_opencl);
  }

  // Both return why there is nothing, in one line.
  std::string find_cuda(const InventoryOptions& options) {
    std::string problem;
    cuda = gpu::cuda::Library::open(options.cuda_library, problem);
    if (cuda) cuda_devices = cuda->devices();
    for (const gpu::cuda::Found& found : cuda_devices)
      listed.push_back(listed_from(found.facts, "CUDA GPU", false));
    return problem.empty() && cuda_devices.empty() ? "the CUDA driver has no devices" : problem;
  }
  std::string find_opencl() {
    std::string problem;
    opencl = gpu::opencl::Library::open(problem);
    if (opencl) {
      auto [devices, left_out] = gpu::opencl::find_devices(opencl->api());
      opencl_devices = std::move(devices);
      if (!opencl_devices.empty())
        missing.insert(missing.end(), left_out.begin(), left_out.end());
      else if (left_out.empty())
        problem = "OpenCL has no devices (no driver is installed for it, or none that loads)";
      else
        problem = fmt::format("{}", fmt::join(left_out, "; "));
    }
    for (const gpu::opencl::Found& found : opencl_devices)
      listed.push_back(listed_from(found.facts,
                                   found.facts.gpu ? "OpenCL GPU"
                                   : found.cpu     ? "OpenCL CPU"
                                                   : "OpenCL",
                                   found.cpu));
    return problem.empty() ? problem
                           : problem + "; on Debian: apt-get install ocl-icd-libopencl1 pocl-opencl-icd";
  }

  std::shared_ptr<const gpu::cuda::Library> cuda;
  std::vector<gpu::cuda::Found> cuda_devices;
  std::shared_ptr<const gpu::opencl::Library> opencl;
  std::vector<gpu::opencl::Found> opencl_devices;
  std::vector<Listed> listed;
  std::string no_cuda, no_opencl;  // why not; empty: there are some
  std::vector<std::string> missing;
  gpu::Proofs proofs;
  std::set<std::string> proven;                               // to this process
  std::map<std::string, std::unique_ptr<gpu::Driver>> ready;  // of CUDA devices that are proven but not made
};

Inventory::Inventory(InventoryOptions options) : options_(std::move(options)) {}
Inventory::~Inventory() = default;

Inventory::Kinds& Inventory::kinds() {
  if (!kinds_) kinds_ = std::make_unique<Kinds>(options_);
  return *kinds_;
}

const std::vector<Listed>& Inventory::listed() { return kinds().listed; }
const std::vector<std::string>& Inventory::missing() { return kinds().missing; }

// NVIDIA's driver shows its cards to OpenCL, too: they are CUDA's already, where CUDA can use them.
std::vector<std::string> Inventory::gpus() {
  std::vector<std::string> names;
  for (const Listed& device : listed()) {
    const bool of_nvidia = device.kind == "OpenCL GPU" && device.driver.starts_with("NVIDIA CUDA");
    if (device.gpu && !(of_nvidia && cuda_computes())) names.push_back(device.name);
  }
  return names;
}

bool Inventory::cuda_computes() {
  return std::ranges::any_of(kinds().cuda_devices, [this](const gpu::cuda::Found& found) {
    return refusal(found.facts.name).empty();
  });
}

void Inventory::prove(gpu::Driver& driver) {
  const gpu::Facts& facts = driver.facts();
  if (kinds().proven.contains(facts.name)) return;
  const bool full = options_.probe == ProbeKind::full;
  const gpu::Proofs& proofs = kinds().proofs;
  std::string refusal;
  if (const auto remembered = full ? std::nullopt : proofs.refusal(driver)) {
    if (!remembered->empty()) refusal = *remembered + " (as it did before; --probe full tries again)";
  } else {
    const Deadline answer = answer_of(driver, options_);
    refusal = gpu::inexactness(driver, full ? gpu::kFullCases : gpu::kUsualCases);
    proofs.remember(driver, refusal);
  }
  if (!refusal.empty())
    throw Error(Fault::device, "{} ({}, {}) {}", facts.name, facts.model, facts.driver, refusal);
  kinds().proven.insert(facts.name);
}

std::unique_ptr<gpu::Driver> Inventory::make_cuda(const std::string& name) {
  if (auto ready = kinds().ready.extract(name)) return std::move(ready.mapped());
  const std::vector<gpu::cuda::Found>& found = kinds().cuda_devices;
  const auto device = std::ranges::find(found, name, [](const gpu::cuda::Found& f) { return f.facts.name; });
  if (device == found.end()) {
    if (found.empty()) throw Error(Fault::device, "there is no device {}: {}", name, kinds().no_cuda);
    throw Error(Fault::device, "there is no device {}; there {} cuda:0{}", name,
                found.size() == 1 ? "is" : "are", found.size() == 1 ? "" : " to " + found.back().facts.name);
  }
  return gpu::cuda::make_cuda_driver(
      kinds().cuda,
      {.found = *device, .nvrtc_library = options_.nvrtc_library, .cache = kernels_in(options_)});
}

MadeDevices Inventory::make(const std::vector<std::string>& names, const MakeOptions& options) {
  const FloatEnvironment environment;  // drivers make threads, which inherit it
  options_.timeout = std::max(options_.timeout, options.timeout);
  std::map<std::string_view, std::vector<std::string>> of_kind;
  for (const std::string& name : names) of_kind[device::kind_of(name)].push_back(name);
  const std::vector<std::string>&cpus = of_kind["cpu"], &opencls = of_kind["opencl"];
  std::map<std::string, std::unique_ptr<device::Device>> made;
  int on_cores = static_cast<int>(cpus.size());
  std::optional<gpu::opencl::Choice> opencl;
  if (!opencls.empty()) {
    opencl.emplace(kinds().opencl_devices, kinds().no_opencl);
    for (const std::string& name : opencls) opencl->add(name);
    on_cores += opencl->on_cores();
  }
  const int threads = cpu::threads_of_each(std::max(1, on_cores), options.threads);
  if (!cpus.empty()) {
    std::vector<std::unique_ptr<device::Device>> devices =
        cpu::make_cpu_devices({.names = cpus,
                               .threads = threads,
                               .others = on_cores - static_cast<int>(cpus.size()),
                               .target = options.target,
                               .memory = options.memory,
                               .bind = options.bind,
                               .timeout = options.timeout,
                               .on_stuck = options.on_stuck});
    for (std::size_t i = 0; i < cpus.size(); ++i) made[cpus[i]] = std::move(devices[i]);
  }
  const auto add = [&](const std::string& name, std::unique_ptr<gpu::Driver> driver) {
    prove(*driver);
    made[name] = gpu::make_gpu_device(std::move(driver));
  };
  for (const std::string& name : of_kind["cuda"]) add(name, make_cuda(name));
  if (opencl) {
    std::vector<std::unique_ptr<gpu::Driver>> drivers =
        opencl->make(kinds().opencl, {threads, kernels_in(options_)});
    for (std::size_t i = 0; i < opencls.size(); ++i) add(opencls[i], std::move(drivers[i]));
  }
  MadeDevices result;
  for (const std::string& name : names) {
    check(made.contains(name), "no device '{}' can be made", name);
    result.devices.push_back(std::move(made[name]));
  }
  result.share_cores = on_cores > 0 && cpu::share_cores(on_cores, threads);
  return result;
}

// All of a device by itself.
std::unique_ptr<gpu::Driver> Inventory::make_proven(const std::string& name) {
  const FloatEnvironment environment;
  std::unique_ptr<gpu::Driver> driver;
  if (device::kind_of(name) == "cuda") {
    driver = make_cuda(name);
  } else {
    gpu::opencl::Choice choice(kinds().opencl_devices, kinds().no_opencl);
    choice.add(name);
    driver = std::move(choice.make(kinds().opencl, {cpu::usable_cores(), kernels_in(options_)}).front());
  }
  prove(*driver);
  return driver;
}

std::string Inventory::refusal(const std::string& name) {
  return problem_of([&] {
    std::unique_ptr<gpu::Driver> driver = make_proven(name);
    // One of OpenCL depends on who shares the cores.
    if (device::kind_of(name) == "cuda") kinds().ready[name] = std::move(driver);
    return std::string();
  });
}

Inventory::Trial Inventory::try_out(const std::string& name) {
  Trial trial;
  trial.refused = problem_of([&] {
    const std::unique_ptr<gpu::Driver> driver = make_proven(name);
    const FloatEnvironment environment;
    const Deadline answer = answer_of(*driver, options_);
    trial.multiply_adds = gpu::fma_rate(*driver);
    return std::string();
  });
  return trial;
}

}  // namespace lockstep::inventory
