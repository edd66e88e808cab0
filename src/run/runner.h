// Runs programs step by step on the devices of a crew. It executes their lists and nothing else.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "program/data_parallel.h"
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
  std::vector<DeviceTimes> devices;       // by device of the crew
  std::vector<int> packs;                 // that each rank computed
  std::optional<ReplicaFinding> finding;  // in the part of the replicas that was looked at after the step
};

// The programs of all ranks, by rank, for a step of `packs` packs. Pure.
struct Programs {
  std::function<std::vector<program::Program>(int packs)> make;
  // The most packs that a rank gets of any step of up to `packs` packs.
  std::function<int(int rank, int packs)> most_packs = [](int /*rank*/, int packs) { return packs; };
};

// A step of program/compile.h by data parallelism.
Programs data_parallel(program::Program step, program::DataPlan plan);

// Of all ranks of the crew, with what its cores are best at.
program::DataPlan plan_for(const Crew& crew, program::DataPlan plan = {});

class Runner;

struct RunnerOptions {
  int most_examples = 256;
  int last_examples = 0;  // of a smaller minibatch that is going to come, too; 0: there is none
  device::Order order = device::Order::pack;
  bool record = false;  // hash every parameter after each step, the tensors dealt over the ranks
  bool trace = false;   // keep what every device did and when
  double of_free_memory = device::LoadOptions{}.of_free_memory;
  bool numbered = true;  // steps are those of a training; messages name them
  // Not null: works with the parameters of this runner of the same crew and model, which outlives it.
  const Runner* parameters_of = nullptr;
};

class Runner {
 public:
  // Requires: crew outlives it.
  Runner(Crew& crew, Programs programs, const RunnerOptions& options);
  // On one device, with a crew of its own.
  Runner(device::Device& device, Programs programs, const RunnerOptions& options,
         const Crew::Options& crew = {});

  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Devices are those of the crew, counted from its first rank.

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

  // `prepared`: the parameters are those of the step before, which prepared them.
  enum class Parameters { changed, prepared };
  StepResult step(const device::StepInput& input, Parameters parameters = Parameters::changed);

  // The next step is the one after so many, in messages and traces. Requires: the replicas are equal.
  void continue_after(std::int64_t steps);

  // Looks at all parameters of all ranks, as they are after the last step that was finite. The crew that has
  // the first rank gets the finding.
  std::optional<ReplicaFinding> examine_replicas();

  // Of the crew's first device, for the largest minibatch.
  const program::Program& program() const { return program_of(0); }
  Crew& crew() { return *crew_; }
  device::Executable& executable(int device = 0);
  std::vector<DeviceTrace> traces() const;

 private:
  struct Worker;

  // The programs of all ranks, and the number that the crew's devices know theirs by.
  struct Set {
    std::vector<program::Program> programs;
    int number = 0;
  };

  Runner(std::unique_ptr<Crew> own, Crew* crew, Programs programs, const RunnerOptions& options);
  const program::Program& program_of(int device) const { return program_of(sets_.rbegin()->second, device); }
  const program::Program& program_of(const Set& set, int device) const {
    const int rank = crew_->first_rank() + device;
    return set.programs[static_cast<std::size_t>(rank)];
  }
  // The numbers of a tensor that a device has.
  template <class Numbers>
  auto held_by(int device, std::size_t tensor, Numbers& numbers) const;
  std::vector<program::Program> make_programs(int packs) const;
  const Set& set_for(int packs);
  void add(Set& set);
  void run_lists(int device, const Set& set, const device::StepInput& input, Parameters parameters);
  void run_host(int device, const program::Segment& segment, program::Purpose purpose);
  std::vector<std::span<const std::int64_t>> looks() const;

  const RunnerOptions options_;
  const std::unique_ptr<Crew> own_crew_;  // of the one-device constructor
  Crew* const crew_;
  const Programs make_;
  std::map<int, Set> sets_;  // by packs
  std::optional<Set> examination_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Replicas> replicas_;  // of a training
  std::int64_t steps_ = 0;
  std::int64_t kept_steps_ = 0;  // but for a last one that was not finite
};

}  // namespace lockstep::run
