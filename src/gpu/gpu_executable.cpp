#include "gpu/gpu_executable.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "gpu/launch_plan.h"
#include "program/print.h"

namespace lockstep::gpu {
namespace {

using arithmetic::kPack;
using program::BufferId;
using program::Role;

// Packs that go through the layers together: enough to fill a GPU, few enough for its memory.
constexpr int kMostPacksAtOnce = 64;

constexpr std::array kBothQueues{Queue::compute, Queue::exchange};

int deepest_stack(const device::LoadOptions& options, int most_packs) {
  int deepest = 1;
  for (int packs = 1; packs <= most_packs; ++packs) {
    for (const arithmetic::JoinStep& step : arithmetic::join_schedule(packs, options.share(packs)))
      deepest = std::max(deepest, step.depth - step.joins + 1);
  }
  return deepest;
}

// Kernels count the floats of an activation in ints.
bool countable(const program::Program& program, int group) {
  const auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  return std::ranges::all_of(program.buffers, [&](const program::Buffer& buffer) {
    return buffer.role != Role::activation ||
           buffer.elements * kPack * static_cast<std::size_t>(group) <= most;
  });
}

BufferId labels_of(const program::Program& program) {
  const auto found = std::ranges::find(program.buffers, Role::labels, &program::Buffer::role);
  return static_cast<BufferId>(found - program.buffers.begin());
}

}  // namespace

GpuExecutable::GpuExecutable(const program::Program& program, const device::LoadOptions& options,
                             Driver& driver)
    : program_(program),
      options_(options),
      driver_(driver),
      most_packs_(arithmetic::pack_count(options.most_examples)),
      share_packs_(device::most_of_share(options)),
      exchange_(options_.alone ? Queue::compute : Queue::exchange),
      labels_id_(labels_of(program_)),
      sizes_(plan_memory()),
      memory_(driver, program_, sizes_),
      launcher_(driver, memory_, program_),
      complete_(program_.sums.size()) {
  program::check_program(program_);
  if (options_.trace) driver.start_trace();
  const auto lanes = static_cast<std::size_t>(sizes_.group) * kPack;
  pixels_ = driver.allocate_host(
      std::max<std::size_t>(1, lanes * static_cast<std::size_t>(program_.input.elements())));
  labels_ = driver.allocate_host(std::max<std::size_t>(1, lanes));
  schedule_ = driver.allocate_host(2 * sizeof(int) * static_cast<std::size_t>(std::max(1, share_packs_)));
  predicted_ =
      driver.allocate_host(static_cast<std::size_t>(std::max(1, share_packs_)) * kPack * sizeof(int));
  verdict_ = driver.allocate_host(sizeof(int));
  loss_ = driver.allocate_host(sizeof(float));
  shown_ = driver.allocate_host(std::max<std::size_t>(1, memory_.stretch_floats()) * sizeof(float));
  // What lies between two tensors is read with them and must be a number.
  std::vector<const Memory*> stretches{memory_.parameters(), memory_.gradients()};
  for (std::size_t s = 0; s < memory_.state_count(); ++s) stretches.push_back(memory_.states(s));
  for (const Memory* stretch : stretches) {
    const auto count = memory_.stretch_floats();
    const std::vector<Argument> arguments{stretch, as_int(count), 0.0f};
    driver.launch(Queue::compute, "fill", arguments, driver.style().items_for_floats(count));
  }
}

GpuExecutable::~GpuExecutable() {
  for (const Queue queue : kBothQueues) {
    try {
      driver_.wait(*driver_.record(queue));  // nothing may still use the memory
    } catch (const Error&) {
      // The device is gone; so is what it did.
    }
  }
}

// As many packs at once as fit.
MemorySizes GpuExecutable::plan_memory() const {
  MemorySizes sizes;
  sizes.most_packs = std::max(1, share_packs_);
  sizes.stack = deepest_stack(options_, most_packs_);
  sizes.inbox = options_.alone ? 0 : options_.inbox_floats;
  sizes.group = std::max(
      1, options_.order == device::Order::layer ? share_packs_ : std::min(share_packs_, kMostPacksAtOnce));
  for (;;) {
    plan_launches(program_, driver_.style(), sizes);
    const bool smallest = sizes.group == 1 || options_.order == device::Order::layer;
    const bool fits = countable(program_, sizes.group) &&
                      GpuMemory::shortage(driver_, program_, sizes, options_.of_free_memory).empty();
    if (smallest || fits) return sizes;
    sizes.group = (sizes.group + 1) / 2;
  }
}

GpuExecutable::Stretch GpuExecutable::stretch_of(BufferId buffer) const {
  const program::Buffer& b = program_.buffers.at(static_cast<std::size_t>(buffer));
  for (std::size_t i = 0; i < program_.sums.size(); ++i) {
    const program::Sum& sum = program_.sums[i];
    const std::size_t first = memory_.offset(static_cast<int>(i));
    if (sum.gradient == buffer) return {memory_.gradients(), first, b.elements};
    if (sum.parameter == buffer) return {memory_.parameters(), first, b.elements};
    for (std::size_t s = 0; s < sum.states.size(); ++s) {
      if (sum.states[s] == buffer) return {memory_.states(s), first + sum.states_first, b.elements};
    }
  }
  lockstep::check(b.role == Role::parameter, "{} cannot be copied", b.name);
  return {memory_.at(buffer), 0, b.elements};  // of an evaluation, where nothing is summed
}

GpuExecutable::Floats GpuExecutable::floats_of(BufferId gradient) const {
  const auto sum = std::ranges::find(program_.sums, gradient, &program::Sum::gradient);
  const std::size_t elements = program_.buffers[static_cast<std::size_t>(gradient)].elements;
  return floats_of(program::exchange::Range{static_cast<int>(sum - program_.sums.begin()), 0, elements});
}

int GpuExecutable::sum_of(BufferId partial) const {
  const auto found = std::ranges::find(program_.sums, partial, &program::Sum::partial);
  return static_cast<int>(found - program_.sums.begin());
}

void GpuExecutable::upload(BufferId buffer, std::span<const float> values) {
  const Stretch to = stretch_of(buffer);
  lockstep::check(to.count == values.size(), "{} floats for a buffer of {}", values.size(), to.count);
  if (values.empty()) return;
  driver_.after(Queue::compute, *driver_.record(exchange_));
  driver_.write(Queue::compute, *to.memory, to.first * sizeof(float), std::as_bytes(values));
  driver_.wait(*driver_.record(Queue::compute));
}

void GpuExecutable::download(BufferId buffer, std::span<float> values) const {
  if (buffer == program_.loss && loss_known_) {
    values[0] = loss_->as<float>()[0];
    return;
  }
  const Stretch from = stretch_of(buffer);
  lockstep::check(from.count == values.size(), "{} floats for a buffer of {}", values.size(), from.count);
  if (values.empty()) return;
  driver_.after(Queue::compute, *driver_.record(exchange_));
  driver_.read(Queue::compute, *from.memory, from.first * sizeof(float), std::as_writable_bytes(values));
  driver_.wait(*driver_.record(Queue::compute));
}

std::span<const float> GpuExecutable::parameter(BufferId buffer) const {
  const Stretch from = stretch_of(buffer);
  const std::span<float> shown = shown_->as<float>().subspan(from.first, from.count);
  download(buffer, shown);
  return shown;
}

void GpuExecutable::download_activation(BufferId buffer, int example, std::span<float> values) const {
  lockstep::check(options_.order == device::Order::layer, "activations are kept in layer order only");
  const arithmetic::PackRange share =
      options_.share(arithmetic::pack_count(static_cast<int>(step_examples_)));
  const int pack = example / kPack, lane = example % kPack;
  if (pack < share.first || pack >= share.last) return;
  const std::size_t floats = values.size() * kPack;
  std::vector<float> lanes(floats);
  const std::size_t first = static_cast<std::size_t>(pack - share.first) * floats * sizeof(float);
  driver_.read(Queue::compute, *memory_.at(buffer), first, std::as_writable_bytes(std::span(lanes)));
  driver_.wait(*driver_.record(Queue::compute));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = lanes[i * kPack + static_cast<std::size_t>(lane)];
}

std::vector<std::int64_t> GpuExecutable::tally() const {
  if (tallied_) driver_.wait(*tallied_);
  const auto classes = static_cast<std::size_t>(program_.classes);
  std::vector<std::int64_t> counts(2 * classes, 0);
  const std::span<const int> predicted = predicted_->as<int>();
  for (std::size_t e = 0; e < step_labels_.size(); ++e) {
    ++counts[step_labels_[e]];
    counts[classes + step_labels_[e]] += predicted[e] == step_labels_[e];
  }
  return counts;
}

std::vector<device::WorkSpan> GpuExecutable::take_spans() {
  std::vector<device::WorkSpan> spans;
  if (!options_.trace) return spans;
  std::vector<Span> done = driver_.take_spans();
  spans.reserve(done.size());
  for (Span& span : done)
    spans.push_back({span.queue != Queue::compute, std::move(span.name), span.start, span.end});
  return spans;
}

// Tells the watch, and the trace, what comes next.
void GpuExecutable::begin(const program::Instruction& instruction, device::Watcher& watcher) const {
  watcher.begin(instruction);
  name_spans(program::to_text(instruction));
}

void GpuExecutable::name_spans(std::string name) const {
  if (options_.trace) driver_.name_spans(std::move(name));
}

bool GpuExecutable::run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) {
  if (segment == 0 && options_.trace) driver_.take_spans();  // of whatever else ran on the device
  const program::Segment& s = program_.segments.at(segment);
  if (s.over == program::Segment::Over::packs) {
    run_packs(s, input, watcher);
    return true;
  }
  return run_elements(s, input, watcher);
}

// Pixels and labels of a group's examples, gathered where the device copies from.
void GpuExecutable::stage(const PackGroup& group, const device::StepInput& input) {
  const device::Minibatch& minibatch = input.minibatch;
  const auto pixels = static_cast<std::size_t>(program_.input.elements());
  if (staged_) driver_.wait(*staged_);
  const std::span<std::byte> images = pixels_->bytes();
  const std::span<std::uint8_t> labels = labels_->as<std::uint8_t>();
  const std::size_t first = static_cast<std::size_t>(first_pack_ + group.first) * kPack;
  const auto examples = static_cast<std::size_t>(group.examples);
  for (std::size_t e = 0; e < examples; ++e) {
    const std::uint32_t example = minibatch.examples[first + e];
    std::memcpy(images.data() + e * pixels, minibatch.pixels + example * pixels, pixels);
    labels[e] = minibatch.labels[example];
    step_labels_.push_back(labels[e]);
  }
  const std::size_t lanes = static_cast<std::size_t>(group.packs) * kPack;
  std::fill(labels.begin() + static_cast<std::ptrdiff_t>(examples),
            labels.begin() + static_cast<std::ptrdiff_t>(lanes), std::uint8_t{0});
  driver_.write(Queue::compute, *memory_.pixels(), 0, images.first(examples * pixels));
  driver_.write(Queue::compute, *memory_.at(labels_id_), 0, std::as_bytes(labels.first(lanes)));
  staged_ = driver_.record(Queue::compute);
}

void GpuExecutable::write_schedule(int packs) {
  if (scheduled_packs_ == packs) return;
  scheduled_packs_ = packs;
  const std::span<int> schedule = schedule_->as<int>();
  std::size_t at = 0;
  for (const arithmetic::JoinStep& step : arithmetic::join_schedule(packs, options_.share(packs))) {
    schedule[at++] = step.depth;
    schedule[at++] = step.joins;
  }
  if (at > 0) driver_.write(Queue::compute, *memory_.schedule(), 0, std::as_bytes(schedule.first(at)));
}

void GpuExecutable::run_packs(const program::Segment& segment, const device::StepInput& input,
                              device::Watcher& watcher) {
  step_examples_ = input.minibatch.examples.size();
  const auto examples = static_cast<int>(step_examples_);
  const int packs = arithmetic::pack_count(examples);
  const arithmetic::PackRange share = options_.share(packs);
  first_pack_ = share.first;
  step_labels_.clear();
  loss_known_ = false;
  // What an exchange of the last step still reads is not overwritten, nor does this step's exchange overwrite
  // what the last update still reads.
  if (!options_.alone) {
    driver_.after(Queue::compute, *driver_.record(exchange_));
    driver_.after(exchange_, *driver_.record(Queue::compute));
  }
  name_spans("load");
  write_schedule(packs);
  const bool loads = std::ranges::any_of(segment.instructions, [](const program::Instruction& i) {
    return std::holds_alternative<program::Load>(i.operation);
  });
  for (int first = 0; first < share.size(); first += sizes_.group) {
    PackGroup group{first, std::min(sizes_.group, share.size() - first), 0};
    group.examples = std::min(group.packs * kPack, examples - (share.first + first) * kPack);
    name_spans("load");
    if (loads) stage(group, input);
    const bool last = first + group.packs == share.size();
    for (const program::Instruction& i : segment.instructions) {
      begin(i, watcher);
      launcher_.run(i, group);
      // Drivers compile a kernel when it first runs; who watches is to see how far that is.
      if (!warm_) driver_.wait(*driver_.record(Queue::compute));
      for (const BufferId output : i.outputs) {
        if (program_.buffers[static_cast<std::size_t>(output)].role != Role::partial) continue;
        launcher_.join_packs(output, group);
        if (last && !options_.alone) {
          complete_[static_cast<std::size_t>(sum_of(output))] = driver_.record(Queue::compute);
          driver_.flush(Queue::compute);
        }
      }
    }
    name_spans("predictions");
    const auto lanes = static_cast<std::size_t>(group.packs) * kPack * sizeof(int);
    driver_.read(Queue::compute, *memory_.predicted(), 0,
                 predicted_->bytes().subspan(static_cast<std::size_t>(first) * kPack * sizeof(int), lanes));
  }
  warm_ = true;
  tallied_ = driver_.record(Queue::compute);
  driver_.flush(Queue::compute);
  // Everything is on its way; who waits for a sum waits for its event.
  for (const program::Instruction& i : segment.instructions) {
    for (const BufferId output : i.outputs) {
      if (program_.buffers[static_cast<std::size_t>(output)].role == Role::partial) watcher.complete(output);
    }
  }
}

bool GpuExecutable::run_elements(const program::Segment& segment, const device::StepInput& input,
                                 device::Watcher& watcher) {
  if (!options_.alone) driver_.after(Queue::compute, *driver_.record(exchange_));
  std::vector<Floats> checked, updated;
  for (const program::Instruction& i : segment.instructions) {
    begin(i, watcher);
    if (std::holds_alternative<program::Prepare>(i.operation)) {
      launcher_.prepare(i);
    } else if (std::holds_alternative<program::Check>(i.operation)) {
      for (const BufferId gradient : i.inputs) checked.push_back(floats_of(gradient));
    } else if (std::holds_alternative<program::Update>(i.operation)) {
      updated.push_back(floats_of(i.inputs[1]));
    } else {
      throw Error(Fault::ours, "defect: '{}' runs over packs, not over elements",
                  program::operation_name(i.operation));
    }
  }
  if (!checked.empty() || !updated.empty()) name_spans(checked.empty() ? "update" : "check");
  update_floats(merged(std::move(updated)), input, Queue::compute);
  return checked.empty() || check_floats(merged(std::move(checked)), Queue::compute);
}

void GpuExecutable::wait_for_queues() const {
  for (const Queue queue : kBothQueues) driver_.wait(*driver_.record(queue));
}

}  // namespace lockstep::gpu
