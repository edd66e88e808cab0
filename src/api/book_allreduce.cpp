// The book's allreduce by the parts that training uses: a crew, the programs of data parallelism, the
// transport between the devices and their joins.
#include <algorithm>
#include <numeric>

#include <lockstep/book.h>

#include "api/book_devices.h"
#include "api/devices.h"
#include "arithmetic/pack.h"
#include "base/error.h"
#include "device/device_list.h"
#include "run/runner.h"

namespace lockstep {
inline namespace api {
namespace book {
namespace {

constexpr program::BufferId kPartial = 0, kSum = 1;

// Packs that compute nothing, then an exchange of one sum.
program::Program sum_step(std::size_t elements) {
  program::Program program;
  program.purpose = program::Purpose::evaluation;  // nothing is updated
  program.buffers = {{"partial", program::Role::partial, elements},
                     {"sum", program::Role::gradient, elements}};
  program.segments = {{"packs", program::Segment::Over::packs, {}}};
  program.input = {1, 1, 1};
  program.sums = {{.partial = kPartial, .gradient = kSum, .op = program::Join::Operator::add}};
  return program;
}

// Each device holds the sum of one pack, which is its tensor.
void reduce(std::vector<Tensor>& data, run::Crew& crew) {
  const std::size_t elements = data[0].values.size();
  std::vector<std::uint32_t> examples(static_cast<std::size_t>(crew.size()) * arithmetic::kPack);
  std::iota(examples.begin(), examples.end(), 0U);
  run::Runner runner(crew, run::data_parallel(sum_step(elements), run::plan_for(crew)),
                     {.most_examples = static_cast<int>(examples.size()),
                      .order = device::Order::layer,  // without workspaces: these packs compute nothing
                      .numbered = false});
  crew.run([&](int device) {
    const device::Transfer held{{kPartial, 0, elements}};
    std::ranges::copy(std::as_bytes(std::span(data[static_cast<std::size_t>(device)].values)),
                      runner.executable(device).bytes(held).begin());
    runner.executable(device).deliver({&held, 1});
  });
  runner.step({.minibatch = {.examples = examples}});
  crew.run([&](int device) {
    runner.executable(device).download(kSum, data[static_cast<std::size_t>(device)].values);
  });
}

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
  reduce(data, *crew);
}

}  // namespace book
}  // namespace api
}  // namespace lockstep
