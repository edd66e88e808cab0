#include "gpu/gpu_executable.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "gpu/memory_sizes.h"
#include "program/print.h"

namespace lockstep::gpu {
namespace {

using arithmetic::kPack;
using program::BufferId;
using program::Role;

constexpr std::array kBothQueues{Queue::compute, Queue::exchange};

// Then it is there before the check.
bool checks(const program::Instruction& check, BufferId gradient) {
  return std::ranges::find(check.inputs, gradient) != check.inputs.end();
}

const GpuMemory* lender_of(const device::LoadOptions& options) {
  if (options.parameters_of == nullptr) return nullptr;
  return &dynamic_cast<const GpuExecutable&>(options.parameters_of->itself()).memory();
}

BufferId labels_of(const program::Program& program) {
  const auto found = std::ranges::find(program.buffers, Role::labels, &program::Buffer::role);
  return static_cast<BufferId>(found - program.buffers.begin());
}

}  // namespace

GpuExecutable::GpuExecutable(const program::Program& program, const device::LoadOptions& options,
                             Driver& driver)
    : options_(options),
      driver_(driver),
      programs_{program},
      share_packs_(options.most_packs),
      exchange_(options_.alone ? Queue::compute : Queue::exchange),
      labels_id_(labels_of(programs_.front())),
      sizes_(memory_sizes(programs_.front(), options, driver)),
      memory_(driver, programs_.front(), sizes_, lender_of(options)),
      launcher_(driver, memory_, programs_.front()) {
  program::check_program(programs_.front());
  if (options_.trace) driver.start_trace();
  const auto lanes = static_cast<std::size_t>(sizes_.group) * kPack;
  pixels_ = driver.allocate_host(
      std::max<std::size_t>(1, lanes * static_cast<std::size_t>(program.input.elements())));
  labels_ = driver.allocate_host(std::max<std::size_t>(1, lanes));
  examples_ = driver.allocate_host(lanes * sizeof(std::uint32_t));
  schedule_ = driver.allocate_host(2 * sizeof(int) * static_cast<std::size_t>(std::max(1, share_packs_)));
  predicted_ =
      driver.allocate_host(static_cast<std::size_t>(std::max(1, share_packs_)) * kPack * sizeof(int));
  verdict_ = driver.allocate_host(sizeof(int));
  loss_ = driver.allocate_host(sizeof(float));
  shown_ = driver.allocate_host(std::max<std::size_t>(1, memory_.stretch_floats()) * sizeof(float));
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].role == Role::counts)
      counts_[static_cast<BufferId>(i)].assign(program.buffers[i].elements, 0);
  }
  // What lies between two tensors is read with them and must be a number.
  std::vector<const Memory*> stretches{memory_.gradients()};
  if (options.parameters_of == nullptr) stretches.push_back(memory_.parameters());
  for (std::size_t s = 0; s < memory_.state_count(); ++s) stretches.push_back(memory_.states(s));
  for (const Memory* stretch : stretches) {
    const auto count = memory_.stretch_floats();
    const std::vector<Argument> arguments{stretch, as_int(count), 0.0f};
    driver.launch(Queue::compute, "fill", arguments, driver.style().items_for_floats(count));
  }
  make_images(programs_.front());
}

int GpuExecutable::add(const program::Program& program) {
  program::check_program(program);
  lockstep::check(std::ranges::equal(program.buffers, programs_.front().buffers, {}, &program::Buffer::role,
                                     &program::Buffer::role),
                  "a program of {} buffers in a memory of {}", program.buffers.size(),
                  programs_.front().buffers.size());
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const program::Buffer &buffer = program.buffers[b], &first = programs_.front().buffers[b];
    lockstep::check(buffer.role != Role::statistics || buffer.elements <= first.elements,
                    "{} of {} floats in a memory for {}", buffer.name, buffer.elements, first.elements);
  }
  if (inbox_floats(program) > memory_.inbox_floats() || deepest_stack(program) > memory_.stack_levels()) {
    wait_for_queues();
    arrived_.clear();
    images_.clear();
    memory_.enlarge(inbox_floats(program), deepest_stack(program));
    for (const program::Program& other : programs_) make_images(other);
  }
  make_images(programs_.emplace_back(program));
  return static_cast<int>(programs_.size()) - 1;
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

GpuExecutable::Stretch GpuExecutable::stretch_of(BufferId buffer) const {
  const program::Program& first = programs_.front();
  const program::Buffer& b = first.buffers.at(static_cast<std::size_t>(buffer));
  for (std::size_t i = 0; i < first.sums.size(); ++i) {
    const program::Sum& sum = first.sums[i];
    const std::size_t offset = memory_.offset(static_cast<int>(i));
    if (sum.gradient == buffer) return {memory_.gradients(), offset, b.elements};
    if (sum.parameter == buffer) return {memory_.parameters(), offset, b.elements};
    for (std::size_t s = 0; s < sum.states.size(); ++s) {
      if (sum.states[s] == buffer) return {memory_.states(s), offset + sum.states_first, b.elements};
    }
  }
  lockstep::check(b.role == Role::parameter, "{} cannot be copied", b.name);
  return {memory_.at(buffer), 0, b.elements};  // without a sum
}

std::size_t GpuExecutable::sum_of(BufferId gradient) const {
  const std::vector<program::Sum>& sums = programs_.front().sums;
  const auto found = std::ranges::find(sums, gradient, &program::Sum::gradient);
  lockstep::check(found != sums.end(), "buffer {} is no gradient of a sum", gradient);
  return static_cast<std::size_t>(found - sums.begin());
}

// What reaches the end of a tensor takes the space behind it along, so that neighbours touch.
GpuExecutable::Floats GpuExecutable::floats_of(BufferId gradient, program::Part part) const {
  const auto sum = static_cast<int>(sum_of(gradient));
  const bool whole_end =
      part.first + part.count == programs_.front().buffers[static_cast<std::size_t>(gradient)].elements;
  return {memory_.offset(sum) + part.first, whole_end ? memory_.room(sum) - part.first : part.count};
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
  if (buffer == programs_.front().loss && loss_known_) {
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
  const arithmetic::PackRange share = program::packs_of(program()).packs;
  const int pack = example / kPack, lane = example % kPack;
  if (pack < share.first || pack >= share.last) return;
  const std::size_t floats = values.size() * kPack;
  std::vector<float> lanes(floats);
  const std::size_t first = static_cast<std::size_t>(pack - share.first) * floats * sizeof(float);
  driver_.after(Queue::compute, *driver_.record(exchange_));  // it may have been received last
  driver_.read(Queue::compute, *memory_.at(buffer), first, std::as_writable_bytes(std::span(lanes)));
  driver_.wait(*driver_.record(Queue::compute));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = lanes[i * kPack + static_cast<std::size_t>(lane)];
}

std::span<std::int64_t> GpuExecutable::counts(BufferId buffer) {
  std::vector<std::int64_t>& counts = counts_.at(buffer);
  if (buffer != counted_) return counts;
  if (tallied_) driver_.wait(*tallied_);
  counted_ = -1;
  const std::size_t classes = counts.size() / 2;
  std::ranges::fill(counts, 0);
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

void GpuExecutable::run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) {
  if (segment == 0 && options_.trace) driver_.take_spans();  // of whatever else ran on the device
  const program::Segment& s = program().segments.at(segment);
  if (s.over == program::Segment::Over::packs) return run_packs(s, input, watcher);
  run_elements(s, input, watcher);
}

// Pixels, labels and numbers of a group's examples, gathered where the device copies from.
void GpuExecutable::stage(const PackGroup& group, const device::StepInput& input) {
  const device::Minibatch& minibatch = input.minibatch;
  const auto pixels = static_cast<std::size_t>(program().input.elements());
  if (staged_) driver_.wait(*staged_);
  const std::span<std::byte> images = pixels_->bytes();
  const std::span<std::uint8_t> labels = labels_->as<std::uint8_t>();
  const std::size_t first = static_cast<std::size_t>(group.number) * kPack;
  const std::span<std::uint32_t> numbers = examples_->as<std::uint32_t>();
  const auto examples = static_cast<std::size_t>(group.examples);
  for (std::size_t e = 0; e < examples; ++e) {
    const std::uint32_t example = minibatch.examples[first + e];
    std::memcpy(images.data() + e * pixels, minibatch.pixels + example * pixels, pixels);
    labels[e] = minibatch.labels[example];
    numbers[e] = example;
    step_labels_.push_back(labels[e]);
  }
  const std::size_t lanes = static_cast<std::size_t>(group.packs) * kPack;
  std::fill(labels.begin() + static_cast<std::ptrdiff_t>(examples),
            labels.begin() + static_cast<std::ptrdiff_t>(lanes), std::uint8_t{0});
  driver_.write(Queue::compute, *memory_.pixels(), 0, images.first(examples * pixels));
  driver_.write(Queue::compute, *memory_.at(labels_id_), 0, std::as_bytes(labels.first(lanes)));
  driver_.write(Queue::compute, *memory_.examples(), 0, std::as_bytes(numbers.first(examples)));
  staged_ = driver_.record(Queue::compute);
}

void GpuExecutable::write_schedule(const program::Segment& segment) {
  const Schedule wanted{program().packs, segment.packs};
  if (scheduled_ == wanted) return;
  if (scheduled_) driver_.wait(*driver_.record(Queue::compute));  // the device may still be copying it
  scheduled_ = wanted;
  const std::span<int> schedule = schedule_->as<int>();
  std::size_t at = 0;
  for (const arithmetic::JoinStep& step : arithmetic::join_schedule(program().packs, segment.packs)) {
    schedule[at++] = step.depth;
    schedule[at++] = step.joins;
  }
  if (at > 0) driver_.write(Queue::compute, *memory_.schedule(), 0, std::as_bytes(schedule.first(at)));
}

void GpuExecutable::run_packs(const program::Segment& segment, const device::StepInput& input,
                              device::Watcher& watcher) {
  const auto examples = static_cast<int>(input.minibatch.examples.size());
  lockstep::check(arithmetic::pack_count(examples) == program().packs,
                  "{} examples for a program of {} packs", examples, program().packs);
  const arithmetic::PackRange share = segment.packs;
  const auto has = [&]<class Operation>(Operation) {
    return std::ranges::any_of(segment.instructions, [](const program::Instruction& i) {
      return std::holds_alternative<Operation>(i.operation);
    });
  };
  const bool loads = has(program::Load{}), scores = has(program::Loss{});
  if (loads) step_labels_.clear();
  loss_known_ = false;
  // What an exchange of the last step still reads is not overwritten, nor does this step's exchange overwrite
  // what the last update still reads.
  if (!options_.alone) {
    driver_.after(Queue::compute, *driver_.record(exchange_));
    driver_.after(exchange_, *driver_.record(Queue::compute));
  }
  name_spans("load");
  write_schedule(segment);
  for (int first = 0; first < share.size(); first += sizes_.group) {
    PackGroup group{first, share.first + first, std::min(sizes_.group, share.size() - first), 0};
    group.examples = std::min(group.packs * kPack, examples - group.number * kPack);
    name_spans("load");
    if (loads) stage(group, input);
    const bool last = first + group.packs == share.size();
    for (const program::Instruction& i : segment.instructions) {
      begin(i, watcher);
      launcher_.run(i, group, input);
      // Drivers compile a kernel when it first runs; who watches is to see how far that is.
      if (!warm_) driver_.wait(*driver_.record(Queue::compute));
      for (const BufferId output : i.outputs) {
        const Role role = program().buffers[static_cast<std::size_t>(output)].role;
        if (role != Role::partial && role != Role::statistics) continue;
        if (role == Role::partial) launcher_.join_packs(output, group);
        if (last && !options_.alone) {
          complete_[output] = driver_.record(Queue::compute);
          driver_.flush(Queue::compute);
        }
      }
      if (std::holds_alternative<program::Loss>(i.operation)) counted_ = i.outputs[2];
    }
    if (!scores) continue;
    name_spans("predictions");
    const auto lanes = static_cast<std::size_t>(group.packs) * kPack * sizeof(int);
    driver_.read(Queue::compute, *memory_.predicted(), 0,
                 predicted_->bytes().subspan(static_cast<std::size_t>(first) * kPack * sizeof(int), lanes));
  }
  if (scores && share.size() == 0) {  // no group has come by
    for (const program::Instruction& i : segment.instructions)
      if (std::holds_alternative<program::Loss>(i.operation)) counted_ = i.outputs[2];
  }
  if (scores) tallied_ = driver_.record(Queue::compute);
  driver_.flush(Queue::compute);
  // Everything is on its way; what waits for a sum waits for its event.
  for (const program::Instruction& i : segment.instructions) {
    for (const program::EventId event : i.signals) watcher.signal(event);
  }
}

void GpuExecutable::run_elements(const program::Segment& segment, const device::StepInput& input,
                                 device::Watcher& watcher) {
  if (!options_.alone) driver_.after(Queue::compute, *driver_.record(exchange_));
  std::vector<Floats> updated;
  for (const program::Instruction& i : segment.instructions) {
    begin(i, watcher);
    if (std::holds_alternative<program::Prepare>(i.operation)) {
      launcher_.prepare(i);
    } else if (std::holds_alternative<program::Check>(i.operation)) {
      name_spans("check");
      check(i);
    } else if (const auto* const update = std::get_if<program::Update>(&i.operation)) {
      if (!is_good(i.inputs[0])) continue;
      updated.push_back(floats_of(i.inputs[2], update->part));
      updated.back().decays = update->decays && input.update.weight_decay != 0;
    } else if (std::holds_alternative<program::NormRunning>(i.operation) && !is_good(i.inputs[0])) {
      continue;
    } else if (!launcher_.norm_elements(i)) {
      throw Error(Fault::ours, "defect: '{}' runs over packs, not over elements",
                  program::operation_name(i.operation));
    }
  }
  if (!updated.empty()) name_spans("update");
  update_floats(merged(std::move(updated)), input);
  for (const program::Instruction& i : segment.instructions) {
    for (const program::EventId event : i.signals) watcher.signal(event);
  }
}

// The one answer a step waits for; what else the host wants to know comes with it.
void GpuExecutable::check(const program::Instruction& instruction) {
  const std::vector<program::Part>& parts = std::get<program::Check>(instruction.operation).parts;
  std::vector<Floats> checked;
  for (std::size_t i = 0; i < parts.size(); ++i)
    checked.push_back(floats_of(instruction.inputs[i], parts[i]));
  const std::vector<Argument> good{memory_.verdict(), 1, 0.0f};  // the bits of an int 0, too
  driver_.launch(Queue::compute, "fill", good, driver_.style().items_for_floats(1));
  for (const Floats& range : merged(std::move(checked))) {
    const std::vector<Argument> arguments{memory_.gradients(), memory_.verdict(), as_int(range.first),
                                          as_int(range.count)};
    driver_.launch(Queue::compute, "check_finite", arguments, driver_.style().items_for_floats(range.count));
  }
  driver_.read(Queue::compute, *memory_.verdict(), 0, verdict_->bytes());
  if (program().loss >= 0) driver_.read(Queue::compute, *memory_.at(program().loss), 0, loss_->bytes());
  driver_.wait(*driver_.record(Queue::compute));
  // Then everything else the step has computed is there, too. The loss may still come from its owner.
  staged_.reset();
  tallied_.reset();
  loss_known_ = checks(instruction, program().loss);
  counts(instruction.outputs[0])[0] = verdict_->as<int>()[0] == 0 ? 1 : 0;
}

void GpuExecutable::wait_for_queues() const {
  for (const Queue queue : kBothQueues) driver_.wait(*driver_.record(queue));
}

}  // namespace lockstep::gpu
