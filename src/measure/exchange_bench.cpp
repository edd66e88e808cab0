#include "measure/exchange_bench.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>

#include <unistd.h>

#include "base/error.h"
#include "cpu/cores.h"
#include "measure/lone_exchange.h"
#include "measure/turns.h"
#include "plan/deal.h"
#include "program/order.h"
#include "run/runner.h"

namespace lockstep::measure {
namespace {

namespace exchange = program::exchange;
using program::Region;

constexpr program::BufferId kPartial = 0, kSum = 1;

// Nothing but one sum: the packs compute nothing. A workspace has to hold something, so it holds an example
// of one number.
program::Program step_of_one_sum(std::size_t elements) {
  program::Program program;
  program.purpose = program::Purpose::evaluation;
  program.buffers = {{"sum.partial", program::Role::partial, elements},
                     {"sum", program::Role::gradient, elements},
                     {"input", program::Role::activation, 1}};
  program.segments = {{"packs", program::Segment::Over::packs, {}}};
  program.sums = {{.partial = kPartial, .gradient = kSum}};
  return program;
}

// A thread that adds packs up keeps no more sums than this for minibatches of 256; the gradient comes beside
// them and the inboxes of a star hold a subtree or two of every device.
constexpr double kSumsOfADevice = 5 + 1 + 2;

void expect_memory_for(const ExchangeBenchOptions& options) {
  const double needed =
      kSumsOfADevice * options.devices * static_cast<double>(options.elements * sizeof(float));
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed <= there) return;
  throw Error(Fault::device,
              "exchanging {:.0f} MB between {} devices takes up to {:.1f} GB of memory, this machine has "
              "{:.1f}; try smaller --megabytes or fewer --devices",
              static_cast<double>(options.elements * sizeof(float)) / 1e6, options.devices, needed / 1e9,
              there / 1e9);
}

class ExchangeBench {
 public:
  explicit ExchangeBench(const ExchangeBenchOptions& options)
      : options_(options),
        order_(static_cast<std::size_t>(options.examples)),
        input_{{nullptr, nullptr, order_}},
        crew_(options.make_crew(options.devices, 1)),
        executables_(static_cast<std::size_t>(options.devices)) {
    const program::Program step = step_of_one_sum(options.elements);
    for (const exchange::Kind& kind : exchange::kinds()) {
      const std::vector<program::Program> programs =
          program::data_parallel(step, run::plan_for(*crew_, {.exchange = &kind}), packs());
      program::check_order(programs);
      int number = 0;
      crew_->run([&](int device) {
        const int given = load(device, programs[static_cast<std::size_t>(device)]);
        if (device == 0) number = given;
      });
      std::vector<device::Executable*> executables;
      executables.reserve(executables_.size());
      for (const auto& executable : executables_) executables.push_back(executable.get());
      exchanges_.emplace_back(LoneExchange::Options{*crew_, programs, executables, number, input_});
      expect_sum(exchanges_.back(), kind);
    }
  }

  ExchangeFigures measure() {
    std::vector<std::function<void()>> runs;
    runs.reserve(exchanges_.size() + 2);
    for (LoneExchange& exchange : exchanges_) runs.emplace_back([&exchange] { exchange.run(); });
    runs.emplace_back([this] { copy(1); });
    runs.emplace_back([this] { copy(options_.devices); });
    const std::vector<std::vector<double>> samples = sample_in_turns(options_.pace, runs);

    ExchangeFigures figures{.bytes = bytes(),
                            .devices = options_.devices,
                            .cores = cpu::usable_cores(),
                            .kinds = {},
                            .copy_one = spread_of(samples[exchanges_.size()]),
                            .copy_all = spread_of(samples[exchanges_.size() + 1])};
    const std::vector<DeviceWork> best = work_of(exchanges_[0].programs());
    for (std::size_t i = 0; i < exchanges_.size(); ++i) {
      const std::vector<DeviceWork> work = work_of(exchanges_[i].programs());
      const auto formula = [&](int cores) { return longest_path(work, cores) / longest_path(best, cores); };
      figures.kinds.push_back({std::string(exchange::kinds()[i].name), work, spread_of(samples[i]),
                               ratio_of(samples[i], samples[0]), formula(options_.devices),
                               formula(figures.cores)});
    }
    return figures;
  }

 private:
  std::size_t bytes() const { return options_.elements * sizeof(float); }
  std::span<float> numbers(int device, program::BufferId buffer, std::size_t row) {
    const std::span<std::byte> bytes = executables_[static_cast<std::size_t>(device)]->bytes(
        {Region{buffer, 0, options_.elements, static_cast<int>(row)}});
    return {reinterpret_cast<float*>(bytes.data()), options_.elements};
  }
  int packs() const { return arithmetic::pack_count(options_.examples); }
  arithmetic::PackRange share(int device) const {
    return plan::deal_packs({0, packs()}, options_.devices)[static_cast<std::size_t>(device)];
  }
  std::size_t subtrees_of(int device) const { return arithmetic::cover(packs(), share(device)).size(); }

  // On the device's worker, so that the memory is its own. Returns the number of the program.
  int load(int device, const program::Program& program) {
    std::unique_ptr<device::Executable>& executable = executables_[static_cast<std::size_t>(device)];
    if (executable) return executable->add(program);
    executable = crew_->device(device).load(
        program, {.most_packs = share(device).size(), .alone = options_.devices == 1});
    return 0;
  }

  void fill_held(int device) {
    for (std::size_t row = 0; row < subtrees_of(device); ++row)
      std::ranges::fill(numbers(device, kPartial, row), 1.0f);
  }

  // Is it an exchange that is going to be timed?
  void expect_sum(LoneExchange& exchange, const exchange::Kind& kind) {
    std::size_t subtrees = 0;
    for (int device = 0; device < options_.devices; ++device) {
      fill_held(device);
      subtrees += subtrees_of(device);
    }
    exchange.run();
    const float mean = static_cast<float>(subtrees) / static_cast<float>(options_.examples);
    for (int device = 0; device < options_.devices; ++device) {
      const std::span<float> result = numbers(device, kSum, 0);
      check(std::ranges::all_of(result, [&](float number) { return number == mean; }),
            "device {} has another sum than {} after a {} exchange", device, mean, kind.name);
      std::ranges::fill(result, 0.0f);
    }
  }

  // The first `devices` devices copy their sums, all at once.
  void copy(int devices) {
    crew_->run([&](int device) {
      if (device >= devices || subtrees_of(device) == 0) return;
      std::memcpy(numbers(device, kSum, 0).data(), numbers(device, kPartial, 0).data(), bytes());
    });
  }

  const ExchangeBenchOptions options_;
  const std::vector<std::uint32_t> order_;  // of examples: only how many there are counts
  const device::StepInput input_;
  const std::unique_ptr<run::Crew> crew_;
  std::vector<std::unique_ptr<device::Executable>> executables_;  // by device
  std::deque<LoneExchange> exchanges_;                            // by kind
};

}  // namespace

ExchangeFigures bench_exchange(const ExchangeBenchOptions& options) {
  expect_memory_for(options);
  return ExchangeBench(options).measure();
}

}  // namespace lockstep::measure
