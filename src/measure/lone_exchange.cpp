#include "measure/lone_exchange.h"

#include <utility>

#include "base/error.h"
#include "plan/deal.h"
#include "program/compile.h"

namespace lockstep::measure {

namespace exchange = program::exchange;

LoneExchange::LoneExchange(Options options, const exchange::Kind& kind) : options_(std::move(options)) {
  const int devices = options_.crew.size();
  exchange::Setting setting = program::sums_of(options_.program);
  setting.packs = arithmetic::pack_count(static_cast<int>(options_.input.minibatch.examples.size()));
  setting.shares = plan::deal_packs({0, setting.packs}, devices);
  lists_ = exchange::emit(setting, kind.shards(setting.sums, devices));
  for (int device = 0; device < devices; ++device) {
    const auto d = static_cast<std::size_t>(device);
    runs_.emplace_back(run::ExchangeRun::Options{
        *options_.executables.at(d), options_.program, options_.crew.transport(device),
        options_.crew.activity(device), clocks_.emplace_back(), device, devices});
  }
  // on the workers: memory belongs where it is touched first
  options_.crew.run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    options_.executables[d]->expect(lists_[d]);
  });
}

void LoneExchange::run() {
  options_.crew.run([this](int device) {
    const auto d = static_cast<std::size_t>(device);
    runs_[d].begin(lists_[d], options_.input);
    for (const program::Sum& sum : options_.program.sums) runs_[d].complete(sum.partial);
    check(runs_[d].finish(), "an exchange of finite sums is not finite");
  });
}

}  // namespace lockstep::measure
