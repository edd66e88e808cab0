#include "gpu/rate.h"

#include <algorithm>
#include <chrono>

#include "arithmetic/pack.h"

namespace lockstep::gpu {

double fma_rate(Driver& driver) {
  using Clock = std::chrono::steady_clock;
  constexpr int kItemsOfAUnit = 64;  // enough to keep a GPU's unit busy
  constexpr std::chrono::duration<double> kLongEnough{0.05};
  const auto items = static_cast<std::size_t>(std::max(1, driver.facts().units)) * kItemsOfAUnit;
  const std::size_t lanes = static_cast<std::size_t>(arithmetic::kPack);
  const std::unique_ptr<Memory> out = driver.allocate(items * lanes * sizeof(float));
  const auto seconds_of = [&](int rounds) {
    const auto start = Clock::now();
    const std::vector<Argument> arguments{out.get(), rounds};
    driver.launch(Queue::compute, "fma_rate", arguments, driver.style().items(items));
    driver.wait(*driver.record(Queue::compute));
    return std::chrono::duration<double>(Clock::now() - start);
  };
  seconds_of(1);  // drivers compile a kernel when it first runs
  for (int rounds = 1024;; rounds *= 4) {
    const std::chrono::duration<double> took = seconds_of(rounds);
    if (took > kLongEnough)
      return static_cast<double>(items * lanes * kFmaRateChains) * rounds / took.count();
  }
}

}  // namespace lockstep::gpu
