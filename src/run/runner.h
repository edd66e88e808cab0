// Runs a program step by step on the devices of a crew. It executes the lists and nothing else.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "run/crew.h"
#include "run/replicas.h"
#include "run/state.h"
#include "run/step_clock.h"

namespace lockstep::run {

struct StepResult {
  bool finite = true;                     // else a check stopped the step before anything was updated
  float loss = 0;                         // mean over the minibatch
  std::vector<std::int64_t> seen, right;  // by class
  std::vector<Hash128> hashes;            // of the parameters after the step, if they are recorded
  std::vector<DeviceTimes> devices;       // by device
  std::vector<int> packs;                 // that each device computed
  std::optional<ReplicaFinding> finding;  // in the part of the replicas that was looked at after the step
};

struct RunnerOptions {
  int most_examples = 256;
  int last_examples = 0;  // of a smaller minibatch that is going to come, too; 0: there is none
  device::Order order = device::Order::pack;
  const program::exchange::Kind* exchange = nullptr;  // null: the best
  bool shard_optimizer = false;  // the programs must be compiled so, with the same exchange
  bool record = false;           // hash every parameter after each step, the tensors dealt over the devices
  // Elements of the sums whose exchange starts together. 0: what the crew's cores are best at.
  std::size_t smallest_group = 0;
  bool trace = false;  // keep what every device did and when
  double of_free_memory = device::LoadOptions{}.of_free_memory;
  bool numbered = true;             // steps are those of a training; messages name them
  std::vector<double> shares = {};  // packs go to devices in these proportions; empty: equal shares

  // Makes the lists of all devices.
  std::function<std::vector<program::exchange::List>(const program::exchange::Setting&,
                                                     std::span<const program::exchange::Shard>)>
      emit = program::exchange::emit;
};

class Runner {
 public:
  // One program a device, equal but for the parts of an optimizer they own. Requires: crew outlives it.
  Runner(Crew& crew, std::vector<program::Program> programs, const RunnerOptions& options);
  // The same program on every device.
  Runner(Crew& crew, const program::Program& program, const RunnerOptions& options);
  // On one device, with a crew of its own.
  Runner(device::Device& device, const program::Program& program, const RunnerOptions& options,
         const Crew::Options& crew = {});

  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The parameters, to every device. The states of the update rule stay what they are: +0 at first.
  void upload(const Weights& weights);
  // A device's own replica of the parameters.
  Weights download(int device = 0) const;

  // The whole state of a training, to every device what the device has of it.
  void upload(const State& state);
  // Put together from the devices that own its parts.
  State state() const;
  // The first device that has this element of a tensor of the state.
  int holder(std::size_t tensor, std::size_t element) const;

  StepResult step(const device::StepInput& input);

  // The next step is the one after so many, in messages and traces. Requires: the replicas are equal.
  void continue_after(std::int64_t steps);

  // Looks at all parameters of all devices, as they are after the last step that was finite.
  std::optional<ReplicaFinding> examine_replicas();

  const program::Program& program() const { return programs_[0]; }
  Crew& crew() { return *crew_; }
  device::Executable& executable(int device = 0);
  std::vector<DeviceTrace> traces() const;

 private:
  struct Worker;

  Runner(std::unique_ptr<Crew> own, Crew* crew, std::vector<program::Program> programs,
         const RunnerOptions& options);
  // The numbers of a tensor that a device has.
  template <class Numbers>
  auto held_by(int device, std::size_t tensor, Numbers& numbers) const;
  std::vector<arithmetic::PackRange> shares_of(int packs) const;
  std::vector<program::exchange::List> make_lists(int packs) const;
  std::size_t most_inbox_floats(int device) const;
  const std::vector<program::exchange::List>& lists_for(int packs);
  void run_step(int device, const device::StepInput& input, const program::exchange::List& list);

  const RunnerOptions options_;
  const std::unique_ptr<Crew> own_crew_;  // of the one-device constructor
  Crew* const crew_;
  const std::vector<program::Program> programs_;
  const std::vector<program::exchange::Shard> shards_;
  std::map<int, std::vector<program::exchange::List>> lists_;  // by packs
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Replicas> replicas_;
  std::int64_t steps_ = 0;
  std::int64_t kept_steps_ = 0;  // but for a last one that was not finite
};

}  // namespace lockstep::run
