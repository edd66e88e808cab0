// What a GPU does in an exchange. Numbers travel from device to device where all reach each other, else
// through images of their memory in the host's; the owner of a sum joins on its own device.
#include <algorithm>

#include "base/error.h"
#include "gpu/gpu_executable.h"
#include "gpu/update_launch.h"

namespace lockstep::gpu {

using program::exchange::Join;
using program::exchange::List;
using program::exchange::Place;
using program::exchange::Range;

void GpuExecutable::expect(const List& list) {
  if (!options_.alone) {
    const std::size_t floats = program::exchange::inbox_floats(list);
    if (floats > memory_.inbox_floats()) {
      wait_for_queues();
      memory_.enlarge_inbox(floats);
    }
    if (!options_.direct) make_images();
  }
  for (const program::exchange::Instruction& instruction : list) {
    if (const auto* const join = std::get_if<Join>(&instruction.operation)) join_plan(*join);
  }
}

void GpuExecutable::make_images() {
  const std::size_t inbox = memory_.inbox_floats() * sizeof(float);
  if (!inbox_image_ || inbox_image_->bytes().size() < inbox)
    inbox_image_ = driver_.allocate_host(std::max<std::size_t>(1, inbox));
  if (gradient_image_) return;
  gradient_image_ = driver_.allocate_host(memory_.stretch_floats() * sizeof(float));
  parameter_image_ = driver_.allocate_host(memory_.stretch_floats() * sizeof(float));
  for (const program::Sum& sum : program_.sums) {
    const std::size_t elements = program_.buffers[static_cast<std::size_t>(sum.partial)].elements;
    held_images_.push_back(
        driver_.allocate_host(static_cast<std::size_t>(memory_.stack_levels()) * elements * sizeof(float)));
  }
}

// Where a place is on the device, and its image.
GpuExecutable::Placed GpuExecutable::placed(const Place& place) {
  const program::Sum& sum = program_.sums[static_cast<std::size_t>(place.range.sum)];
  const std::size_t stretch = memory_.offset(place.range.sum) + place.range.first;
  switch (place.of) {
    case Place::Of::held: {
      const std::size_t elements = program_.buffers[static_cast<std::size_t>(sum.partial)].elements;
      return {memory_.stack(sum.partial), place.slot * elements + place.range.first,
              held_images_.empty() ? nullptr : held_images_[static_cast<std::size_t>(place.range.sum)].get()};
    }
    case Place::Of::inbox:
      return {memory_.inbox(), place.slot, inbox_image_.get()};
    case Place::Of::gradient:
      return {memory_.gradients(), stretch, gradient_image_.get()};
    case Place::Of::parameter:
      return {memory_.parameters(), stretch, parameter_image_.get()};
    case Place::Of::verdict:
      break;
  }
  throw Error(Fault::ours, "defect: a verdict has no place on a device");
}

std::span<float> GpuExecutable::numbers(const Place& place) {
  const Placed at = placed(place);
  if (options_.direct)
    return {reinterpret_cast<float*>(driver_.address(*at.memory)) + at.first, place.range.count};
  return at.image->as<float>().subspan(at.first, place.range.count);
}

void GpuExecutable::wait_for_packs(const Place& place) {
  if (place.of != Place::Of::held || options_.alone) return;
  const auto& complete = complete_[static_cast<std::size_t>(place.range.sum)];
  if (complete) driver_.after(exchange_, *complete);
}

void GpuExecutable::publish(std::span<const Place> places) {
  if (places.empty()) return;
  name_spans("exchange");
  for (const Place& place : places) {
    wait_for_packs(place);
    if (options_.direct) continue;
    const Placed at = placed(place);
    driver_.read(exchange_, *at.memory, at.first * sizeof(float), std::as_writable_bytes(numbers(place)));
  }
  driver_.wait(*driver_.record(exchange_));
}

void GpuExecutable::deliver(std::span<const Place> places) {
  if (places.empty() || options_.direct) return;
  name_spans("exchange");
  for (const Place& place : places) {
    const Placed at = placed(place);
    driver_.write(exchange_, *at.memory, at.first * sizeof(float), std::as_bytes(numbers(place)));
  }
  driver_.flush(exchange_);
}

// The plan of a join: where each subtree lies, then which meets which.
const Memory& GpuExecutable::join_plan(const Join& join) {
  std::vector<int> plan;
  for (const Place& place : join.subtrees) {
    plan.push_back(place.of == Place::Of::inbox ? 1 : 0);
    plan.push_back(as_int(placed(place).first));
  }
  for (const arithmetic::JoinPair& pair : join.pairs) {
    plan.push_back(pair.into);
    plan.push_back(pair.from);
  }
  const auto [found, fresh] = join_plans_.try_emplace(plan);
  if (fresh) {
    found->second = driver_.allocate(plan.size() * sizeof(int));
    driver_.write(exchange_, *found->second, 0, std::as_bytes(std::span(found->first)));
  }
  return *found->second;
}

void GpuExecutable::join(std::span<const Join> joins, const device::StepInput& input) {
  const auto examples = static_cast<float>(input.minibatch.examples.size());
  name_spans("exchange");
  for (const Join& join : joins) {
    const program::Sum& sum = program_.sums[static_cast<std::size_t>(join.range.sum)];
    for (const Place& place : join.subtrees) wait_for_packs(place);
    const Memory* const held = memory_.stack(sum.partial);
    const std::vector<Argument> arguments{held,
                                          memory_.inbox() != nullptr ? memory_.inbox() : held,
                                          &join_plan(join),
                                          memory_.gradients(),
                                          as_int(memory_.offset(join.range.sum) + join.range.first),
                                          as_int(join.range.count),
                                          static_cast<int>(join.subtrees.size()),
                                          static_cast<int>(join.pairs.size()),
                                          examples};
    driver_.launch(exchange_, "join", arguments, driver_.style().items_for_floats(join.range.count));
  }
  driver_.flush(exchange_);
}

// What reaches the end of a tensor takes the space behind it along, so that neighbours touch.
GpuExecutable::Floats GpuExecutable::floats_of(const Range& range) const {
  const program::Sum& sum = program_.sums[static_cast<std::size_t>(range.sum)];
  const bool whole_end =
      range.first + range.count == program_.buffers[static_cast<std::size_t>(sum.gradient)].elements;
  return {memory_.offset(range.sum) + range.first,
          whole_end ? memory_.room(range.sum) - range.first : range.count};
}

// In order, and those that touch are one.
std::vector<GpuExecutable::Floats> GpuExecutable::merged(std::vector<Floats> ranges) {
  std::ranges::sort(ranges, {}, &Floats::first);
  std::vector<Floats> result;
  for (const Floats& range : ranges) {
    if (range.count == 0) continue;
    if (!result.empty() && result.back().first + result.back().count == range.first) {
      result.back().count += range.count;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

bool GpuExecutable::check(std::span<const Range> gradients) {
  std::vector<Floats> ranges;
  ranges.reserve(gradients.size());
  for (const Range& range : gradients) ranges.push_back(floats_of(range));
  return check_floats(merged(std::move(ranges)), exchange_);
}

// The one answer a step waits for; what else the host wants to know comes with it.
bool GpuExecutable::check_floats(const std::vector<Floats>& ranges, Queue queue) {
  const std::vector<Argument> good{memory_.verdict(), 1, 0.0f};  // the bits of an int 0, too
  driver_.launch(queue, "fill", good, driver_.style().items_for_floats(1));
  for (const Floats& range : ranges) {
    const std::vector<Argument> arguments{memory_.gradients(), memory_.verdict(), as_int(range.first),
                                          as_int(range.count)};
    driver_.launch(queue, "check_finite", arguments, driver_.style().items_for_floats(range.count));
  }
  driver_.read(queue, *memory_.verdict(), 0, verdict_->bytes());
  driver_.read(queue, *memory_.at(program_.loss), 0, loss_->bytes());
  driver_.wait(*driver_.record(queue));
  if (queue == Queue::compute) {  // then everything else the step has computed is there, too
    staged_.reset();
    tallied_.reset();
    loss_known_ = true;
  }
  return verdict_->as<int>()[0] == 0;
}

void GpuExecutable::update(std::span<const program::exchange::Update> updates,
                           const device::StepInput& input) {
  std::vector<Floats> ranges;
  ranges.reserve(updates.size());
  for (const program::exchange::Update& update : updates) ranges.push_back(floats_of(update.range));
  update_floats(merged(std::move(ranges)), input, exchange_);
}

void GpuExecutable::update_floats(const std::vector<Floats>& ranges, const device::StepInput& input,
                                  Queue queue) {
  for (const Floats& range : ranges) {
    const UpdateLaunch update =
        update_launch(program_.rule, memory_, as_int(range.first), as_int(range.count), input.update);
    driver_.launch(queue, update.kernel, update.arguments, driver_.style().items_for_floats(range.count));
  }
  driver_.flush(queue);
}

}  // namespace lockstep::gpu
