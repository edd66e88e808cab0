// The book's allreduce by the parts that training uses: a crew, the lists of an exchange, the transport
// between the devices and their joins. Each device holds the sum of one pack, which is its tensor.
#include <algorithm>
#include <numeric>

#include <lockstep/book.h>

#include "api/book_devices.h"
#include "api/devices.h"
#include "arithmetic/pack.h"
#include "base/error.h"
#include "device/device_list.h"
#include "plan/deal.h"
#include "program/compile.h"
#include "run/exchange_run.h"

namespace lockstep {
inline namespace api {
namespace book {
namespace {

namespace exchange = program::exchange;

constexpr program::BufferId kPartial = 0, kSum = 1, kTally = 2;

// Packs that compute nothing, then an exchange of one sum.
program::Program sum_program(std::size_t elements) {
  program::Program program;
  program.buffers = {{"partial", program::Role::partial, elements},
                     {"sum", program::Role::gradient, elements},
                     {"tally", program::Role::tally, 2}};
  program.segments = {{"packs", program::Segment::Over::packs, {}}};
  program.input = {1, 1, 1};
  program.classes = 1;
  program.sums = {{.partial = kPartial, .gradient = kSum}};
  program.tally = kTally;
  return program;
}

struct NoWatcher final : device::Watcher {
  void begin(const program::Instruction&) override {}
  void complete(program::BufferId) override {}
};

class Reduction {
 public:
  Reduction(std::vector<Tensor>& data, run::Crew& crew)
      : data_(data),
        crew_(crew),
        program_(sum_program(data[0].values.size())),
        packs_(static_cast<std::size_t>(crew.size()) * arithmetic::kPack),
        lists_(make_lists()),
        executables_(static_cast<std::size_t>(crew.size())) {
    std::iota(packs_.begin(), packs_.end(), 0U);
  }

  void run(int device) {
    const auto d = static_cast<std::size_t>(device);
    std::unique_ptr<device::Executable>& executable = executables_[d];
    executable = crew_.device(device).load(
        program_, {.most_examples = static_cast<int>(packs_.size()),
                   .order = device::Order::layer,  // without workspaces: these packs compute nothing
                   .alone = false,                 // the sum is put where others would read it
                   .share = [this, d](int packs) {
                     return plan::deal_packs({0, packs}, crew_.size())[d];
                   }});
    executable->expect(lists_[d]);
    // A pack a device; the exchange divides by the examples, so it is told of one.
    const device::StepInput of_packs{.minibatch = {.examples = packs_}};
    const device::StepInput of_one{.minibatch = {.examples = std::span(packs_).first(1)}};
    NoWatcher watcher;
    check(executable->run(0, of_packs, watcher), "packs without instructions are not finite");
    const std::size_t elements = data_[d].values.size();
    const exchange::Place held{exchange::Place::Of::held, {0, 0, elements}, 0};
    std::ranges::copy(data_[d].values, executable->numbers(held).begin());
    executable->deliver({&held, 1});

    run::StepClock clock;
    run::ExchangeRun exchange_run({*executable, program_, crew_.transport(device), crew_.activity(device),
                                   clock, device, crew_.size()});
    exchange_run.begin(lists_[d], of_one);
    exchange_run.complete(kPartial);
    check(exchange_run.finish(), "an exchange without checks found something");
    exchange_run.drain();  // before the memory that others read is gone
    executable->download(kSum, data_[d].values);
  }

 private:
  std::vector<exchange::List> make_lists() const {
    exchange::Setting setting = program::sums_of(program_);
    setting.packs = crew_.size();
    setting.shares = plan::deal_packs({0, crew_.size()}, crew_.size());
    return exchange::emit(setting, exchange::kinds().front().shards(setting.sums, crew_.size()));
  }

  std::vector<Tensor>& data_;
  run::Crew& crew_;
  const program::Program program_;
  std::vector<std::uint32_t> packs_;  // as many examples as fill a pack a device
  const std::vector<exchange::List> lists_;
  std::vector<std::unique_ptr<device::Executable>> executables_;  // until all are done: others copy from them
};

std::string joined_devices(const std::vector<Tensor>& data) {
  std::string list;
  for (const Tensor& tensor : data) list += (list.empty() ? "" : ",") + tensor.device;
  return list;
}

}  // namespace

void allreduce(std::vector<Tensor>& data) {
  if (data.empty() || data[0].values.empty()) return;
  for (const Tensor& tensor : data) {
    expect_shape("allreduce", tensor);
    if (tensor.rows != data[0].rows || tensor.columns != data[0].columns ||
        tensor.values.size() != data[0].values.size())
      throw Error(Fault::usage, "allreduce: expected {} x {} numbers on every device, found {} x {} on {}",
                  data[0].rows, data[0].columns, tensor.rows, tensor.columns, tensor.device);
  }
  const std::unique_ptr<run::Crew> crew = make_crew(joined_devices(data), 1);
  if (static_cast<std::size_t>(crew->size()) != data.size())
    throw Error(Fault::usage, "allreduce: expected the name of one device for each of {} tensors, found '{}'",
                data.size(), joined_devices(data));
  Reduction reduction(data, *crew);
  crew->run([&](int device) { reduction.run(device); });
}

}  // namespace book
}  // namespace api
}  // namespace lockstep
