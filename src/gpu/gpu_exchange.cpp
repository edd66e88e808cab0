// What a GPU does in an exchange. Numbers travel from device to device where the two reach each other, else
// through images of their memory in the host's; the owner of a sum joins on its own device.
#include <algorithm>

#include "base/error.h"
#include "device/join_counts.h"
#include "gpu/gpu_executable.h"
#include "gpu/update_launch.h"

namespace lockstep::gpu {

using device::Transfer;
using program::BufferId;
using program::Join;
using program::Region;
using program::Role;

// What travels through the host needs an image there before the first step.
void GpuExecutable::make_images(const program::Program& program) {
  const auto image = [&](int peer, const Region& region) {
    const bool direct = static_cast<std::size_t>(peer) < options_.direct.size() &&
                        options_.direct[static_cast<std::size_t>(peer)];
    if (direct || program.buffers[static_cast<std::size_t>(region.buffer)].role == Role::counts) return;
    image_of(placed(region));
  };
  for (const program::ExchangeInstruction& instruction : program.exchange) {
    if (const auto* const send = std::get_if<program::Send>(&instruction.operation))
      image(send->to, send->region);
    if (const auto* const receive = std::get_if<program::Receive>(&instruction.operation))
      image(receive->from, receive->region);
    if (const auto* const join = std::get_if<Join>(&instruction.operation);
        join != nullptr && !device::joins_counts(*join))
      join_plan(*join);
  }
}

HostMemory& GpuExecutable::image_of(const Placed& at) {
  std::unique_ptr<HostMemory>& image = images_[at.memory];
  if (!image) image = driver_.allocate_host(std::max<std::size_t>(1, at.whole));
  return *image;
}

GpuExecutable::Placed GpuExecutable::placed(const Region& region) const {
  const program::Buffer& buffer = programs_.front().buffers.at(static_cast<std::size_t>(region.buffer));
  const std::size_t first = region.first * sizeof(float);
  switch (buffer.role) {
    case Role::partial: {
      const std::size_t level = buffer.elements * sizeof(float);
      return {memory_.stack(region.buffer), static_cast<std::size_t>(region.row) * level + first,
              static_cast<std::size_t>(memory_.stack_levels()) * level};
    }
    case Role::inbox:
      return {memory_.inbox(), first, memory_.inbox_floats() * sizeof(float)};
    case Role::gradient:
    case Role::parameter:
    case Role::state: {
      const Stretch stretch = stretch_of(region.buffer);
      return {stretch.memory, stretch.first * sizeof(float) + first,
              memory_.stretch_floats() * sizeof(float)};
    }
    case Role::activation: {
      const std::size_t pack = buffer.elements * arithmetic::kPack * sizeof(float);
      const int row = region.row - program::packs_of(program()).packs.first;
      return {memory_.at(region.buffer), static_cast<std::size_t>(row) * pack + first * arithmetic::kPack,
              static_cast<std::size_t>(sizes_.group) * pack};
    }
    case Role::statistics:
      return {memory_.at(region.buffer), first, buffer.elements * sizeof(float)};
    case Role::mask:
    case Role::labels:
    case Role::prepared:
    case Role::counts:
      break;
  }
  throw Error(Fault::ours, "defect: {} has no place on a device that can travel", buffer.name);
}

std::span<std::byte> GpuExecutable::bytes(const Transfer& transfer) {
  const std::size_t size = program::region_bytes(program(), transfer.region);
  if (program().buffers[static_cast<std::size_t>(transfer.region.buffer)].role == Role::counts)
    return std::as_writable_bytes(
        std::span(counts_.at(transfer.region.buffer)).subspan(transfer.region.first, transfer.region.count));
  const Placed at = placed(transfer.region);
  if (transfer.direct) {
    wait_for_work_on(transfer.region.buffer);  // the copy comes later, without a further call
    return {driver_.address(*at.memory) + at.first, size};
  }
  wait_until_taken(at, size);
  return image_of(at).bytes().subspan(at.first, size);
}

void GpuExecutable::note_taken() {
  std::shared_ptr<Event> taken;
  for (Arrived& fresh : arrived_) {
    if (fresh.taken) continue;
    if (!taken) taken = driver_.record(exchange_);
    fresh.taken = taken;
  }
}

// What arrived in an image earlier is there until the device has copied it.
void GpuExecutable::wait_until_taken(const Placed& at, std::size_t size) {
  std::erase_if(arrived_, [&](const Arrived& earlier) {
    const bool apart = earlier.memory != at.memory || earlier.first + earlier.size <= at.first ||
                       at.first + size <= earlier.first;
    if (apart) return false;
    driver_.wait(*earlier.taken);
    return true;
  });
}

// Sums over packs and statistics of packs have events of their own; other numbers are there, and may be
// overwritten, when all that was queued is done.
void GpuExecutable::wait_for_work_on(BufferId buffer) {
  if (options_.alone) return;
  const auto complete = complete_.find(buffer);
  if (complete != complete_.end()) return driver_.after(exchange_, *complete->second);
  const Role role = program().buffers[static_cast<std::size_t>(buffer)].role;
  if (role == Role::activation || role == Role::parameter || role == Role::partial ||
      role == Role::statistics)
    driver_.after(exchange_, *driver_.record(Queue::compute));
}

void GpuExecutable::publish(std::span<const Transfer> transfers) {
  bool on_device = false;
  for (const Transfer& transfer : transfers) {
    if (program().buffers[static_cast<std::size_t>(transfer.region.buffer)].role == Role::counts) {
      counts(transfer.region.buffer);
      continue;
    }
    if (!on_device) name_spans("exchange");
    on_device = true;
    wait_for_work_on(transfer.region.buffer);
    if (transfer.direct) continue;
    const Placed at = placed(transfer.region);
    driver_.read(exchange_, *at.memory, at.first, bytes(transfer));
  }
  if (on_device) driver_.wait(*driver_.record(exchange_));
}

void GpuExecutable::deliver(std::span<const Transfer> transfers) {
  name_spans("exchange");
  for (const Transfer& transfer : transfers) {
    const bool on_host =
        program().buffers[static_cast<std::size_t>(transfer.region.buffer)].role == Role::counts;
    if (transfer.direct || on_host) continue;
    wait_for_work_on(transfer.region.buffer);
    const Placed at = placed(transfer.region);
    const std::span<const std::byte> image = bytes(transfer);
    driver_.write(exchange_, *at.memory, at.first, image);
    arrived_.push_back({at.memory, at.first, image.size(), nullptr});
  }
  note_taken();
  driver_.flush(exchange_);
}

// The plan of a join: where each input lies, then which meets which.
const Memory& GpuExecutable::join_plan(const Join& join) {
  std::vector<int> plan;
  for (const Region& region : join.inputs) {
    const Placed at = placed(region);
    plan.push_back(at.memory == memory_.inbox() ? 1 : 0);
    plan.push_back(as_int(at.first / sizeof(float)));
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
  name_spans("exchange");
  for (const Join& join : joins) {
    if (device::joins_counts(join)) {
      device::join_counts(join, [this](BufferId id) { return counts(id); });
      continue;
    }
    const Memory* held = memory_.inbox();
    BufferId waited = -1;  // rows of statistics are neighbours in the list
    for (const Region& region : join.inputs) {
      if (region.buffer != waited) wait_for_work_on(region.buffer);
      waited = region.buffer;
      if (placed(region).memory != memory_.inbox()) held = placed(region).memory;
    }
    const Placed to = placed(join.output);
    const bool statistics = join.op == Join::Operator::statistics;
    const bool by_element = statistics || join.op == Join::Operator::maximum;
    const std::size_t items = statistics ? join.output.count / 3 : join.output.count;
    std::vector<Argument> arguments{held,
                                    memory_.inbox() != nullptr ? memory_.inbox() : held,
                                    &join_plan(join),
                                    to.memory,
                                    as_int(to.first / sizeof(float)),
                                    as_int(items),
                                    static_cast<int>(join.inputs.size()),
                                    static_cast<int>(join.pairs.size())};
    switch (join.op) {
      case Join::Operator::mean:
        arguments.emplace_back(static_cast<float>(input.minibatch.examples.size()));
        break;
      case Join::Operator::add:
        arguments.emplace_back(1.0f);
        break;
      case Join::Operator::maximum:
      case Join::Operator::statistics:
      case Join::Operator::integer_add:
      case Join::Operator::both:
        break;
    }
    const char* const kernel = statistics                           ? "join_statistics"
                               : join.op == Join::Operator::maximum ? "join_maximum"
                                                                    : "join";
    driver_.launch(exchange_, kernel, arguments,
                   by_element ? items : driver_.style().items_for_floats(items));
  }
  driver_.flush(exchange_);
}

// In order, and those that touch are one, unless only one of them decays.
std::vector<GpuExecutable::Floats> GpuExecutable::merged(std::vector<Floats> ranges) {
  std::ranges::sort(ranges, {}, &Floats::first);
  std::vector<Floats> result;
  for (const Floats& range : ranges) {
    if (range.count == 0) continue;
    if (!result.empty() && result.back().first + result.back().count == range.first &&
        result.back().decays == range.decays) {
      result.back().count += range.count;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

void GpuExecutable::update_floats(const std::vector<Floats>& ranges, const device::StepInput& input) {
  for (const Floats& range : ranges) {
    const UpdateLaunch update =
        update_launch(program().rule, memory_, as_int(range.first), as_int(range.count),
                      range.decays ? input.update : input.update.without_decay());
    driver_.launch(Queue::compute, update.kernel, update.arguments,
                   driver_.style().items_for_floats(range.count));
  }
  driver_.flush(Queue::compute);
}

}  // namespace lockstep::gpu
