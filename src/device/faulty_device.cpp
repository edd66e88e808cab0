#include "device/faulty_device.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <thread>

#include "base/error.h"
#include "device/passing_on.h"

namespace lockstep::device {
namespace {

constexpr std::chrono::milliseconds kSlow{50};

// Where in a program the drill happens.
struct Spot {
  std::size_t segment = 0, instruction = 0;
};

// "conv1+relu1" stands for both.
bool stands_for(std::string_view layers, std::string_view layer) {
  for (;;) {
    const std::size_t end = layers.find('+');
    if (layers.substr(0, end) == layer) return true;
    if (end == std::string_view::npos) return false;
    layers.remove_prefix(end + 1);
  }
}

bool is_wanted(const program::Segment& segment, const program::Instruction& instruction,
               const std::string& wanted) {
  if (wanted.empty()) return segment.over == program::Segment::Over::packs;
  return segment.name == wanted || stands_for(instruction.layer, wanted);
}

Spot find_spot(const program::Program& program, const std::string& wanted) {
  // A layer's first instruction is the preparation of its weights; its work is among the packs.
  std::optional<Spot> found;
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const program::Segment& segment = program.segments[s];
    if (segment.over == program::Segment::Over::host) continue;
    for (std::size_t i = 0; i < segment.instructions.size(); ++i) {
      if (!is_wanted(segment, segment.instructions[i], wanted)) continue;
      if (segment.over == program::Segment::Over::packs) return {s, i};
      if (!found) found = Spot{s, i};
    }
  }
  if (found) return *found;
  throw Error(Fault::usage, "drill: the program has no layer or segment '{}' that a device runs", wanted);
}

const program::Update* update_of(const program::Instruction& instruction) {
  return std::get_if<program::Update>(&instruction.operation);
}

// A sharded optimizer updates parts: the other ranks would get the flipped number, too.
bool is_part(const program::Program& program, const program::Instruction& instruction) {
  const program::Update* const update = update_of(instruction);
  return update != nullptr &&
         update->part.count != program.buffers[static_cast<std::size_t>(instruction.outputs[0])].elements;
}

std::size_t update_segment(const program::Program& program) {
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const std::vector<program::Instruction>& list = program.segments[s].instructions;
    // running statistics are updated there, too
    if (std::ranges::any_of(list, [](const auto& i) { return update_of(i) != nullptr; }) &&
        std::ranges::none_of(list, [&](const auto& i) { return is_part(program, i); }))
      return s;
  }
  throw Error(
      Fault::usage,
      "drill: a flip needs replicas that update all their parameters; leave the sharded optimizer out");
}

class FaultyExecutable final : public PassingExecutable {
 public:
  FaultyExecutable(std::unique_ptr<Executable> inner, const program::Program& program, const Drill& drill,
                   const std::function<void()>& hang)
      : PassingExecutable(std::move(inner)),
        program_(program),
        drill_(drill),
        hang_(hang),
        spot_(find_spot(program_, drill.instruction)),
        update_(drill.kind == Drill::Kind::flip ? update_segment(program_) : 0) {}

  // The programs for other numbers of packs have the same segments.
  int add(const program::Program& program) override {
    trains_.push_back(program.purpose == program::Purpose::training);
    return inner().add(program);
  }
  void begin(int program) override {
    if (trains_.at(static_cast<std::size_t>(program))) ++step_;
    training_ = trains_[static_cast<std::size_t>(program)];
    inner().begin(program);
  }
  void run(std::size_t segment, const StepInput& input, Watcher& watcher) override {
    const bool now = training_ && step_ == drill_.step;
    if (now && segment == spot_.segment && drill_.kind != Drill::Kind::flip) go_wrong(watcher);
    inner().run(segment, input, watcher);
    if (now && segment == update_ && drill_.kind == Drill::Kind::flip) flip();
  }

 private:
  // On the thread that drives the device, with the instruction already announced.
  void go_wrong(Watcher& watcher) {
    watcher.begin(program_.segments[spot_.segment].instructions[spot_.instruction]);
    switch (drill_.kind) {
      case Drill::Kind::fail:
        throw Error(Fault::device, "drill: the device was told to fail here");
      case Drill::Kind::hang:
        return hang_();
      case Drill::Kind::slow:
        return std::this_thread::sleep_for(kSlow);
      case Drill::Kind::flip:
        return;
    }
  }

  void flip() {
    const program::BufferId last = program_.parameters.back();
    std::vector<float> values(program_.buffers[static_cast<std::size_t>(last)].elements);
    download(last, values);
    values[0] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(values[0]) ^ 1U);
    upload(last, values);
  }

  const program::Program program_;
  const Drill drill_;
  const std::function<void()> hang_;
  const Spot spot_;
  const std::size_t update_;        // the segment, of a flip
  std::vector<bool> trains_{true};  // by program
  bool training_ = false;
  std::int64_t step_ = 0;
};

class FaultyDevice final : public PassingDevice {
 public:
  FaultyDevice(std::unique_ptr<Device> inner, const Drill& drill, std::function<void()> hang)
      : PassingDevice(*inner), inner_(std::move(inner)), drill_(drill), hang_(std::move(hang)) {}

  std::unique_ptr<Executable> load(const program::Program& program, const LoadOptions& options) override {
    std::unique_ptr<Executable> executable = inner_->load(program, options);
    if (program.purpose != program::Purpose::training) return executable;
    return std::make_unique<FaultyExecutable>(std::move(executable), program, drill_, hang_);
  }

 private:
  const std::unique_ptr<Device> inner_;
  const Drill drill_;
  const std::function<void()> hang_;
};

}  // namespace

std::unique_ptr<Device> make_faulty(std::unique_ptr<Device> device, const Drill& drill,
                                    std::function<void()> hang) {
  check(drill.kind != Drill::Kind::hang || hang != nullptr, "a drill that hangs without a way to hang");
  return std::make_unique<FaultyDevice>(std::move(device), drill, std::move(hang));
}

}  // namespace lockstep::device
