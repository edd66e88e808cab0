// --print-program prints training_programs(). What devices and transports are asked to do in a step is what
// stands there, line by line.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/passing_on.h"
#include "program/print.h"
#include "train/trainer_job_for_test.h"
#include "transport/threads/thread_transport.h"

namespace lockstep::train {
namespace {

// What one rank does, in order. Messages, joins and work go on beside each other.
struct Done {
  std::vector<std::string> work, sends, receives, joins;
  bool operator==(const Done&) const = default;
};

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// The columns of operation and layer.
std::string work_line(const std::string& line) {
  return trimmed(line.substr(2, 25)) + ", " + trimmed(line.substr(27, 20));
}

Done printed(const std::string& text) {
  Done done;
  bool exchange = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      exchange = line == "exchange, beside the work";
    } else if (!exchange) {
      done.work.push_back(work_line(line));
    } else {
      line = line.substr(2, line.find("  ", 2) - 2);  // without its events
      if (line.starts_with("send ")) {
        done.sends.push_back(line.substr(line.rfind("rank ")));
      } else if (line.starts_with("receive ")) {
        done.receives.push_back(line.substr(line.rfind("rank ")));
      } else {
        done.joins.push_back(line);
      }
    }
  }
  return done;
}

// Writes down what the device is asked to do.
class NotingDevice final : public device::PassingDevice {
 public:
  NotingDevice(std::unique_ptr<device::Device> inner, Done& done)
      : PassingDevice(*inner), inner_(std::move(inner)), done_(done) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<Executable>(inner_->load(program, options), program, done_);
  }

 private:
  class Executable final : public device::PassingExecutable, device::Watcher {
   public:
    Executable(std::unique_ptr<device::Executable> inner, program::Program program, Done& done)
        : PassingExecutable(std::move(inner)), program_(std::move(program)), done_(done) {}
    void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
      watcher_ = &watcher;
      begun_.clear();
      inner().run(segment, input, *this);
    }
    void join(std::span<const program::Join> joins, const device::StepInput& input) override {
      for (const program::Join& join : joins)
        done_.joins.push_back(program::to_text({.operation = join}, program_));
      inner().join(joins, input);
    }
    // The one thing that is done on the host is a look at the parameters.
    std::span<const float> parameter(program::BufferId buffer) const override {
      if (done_.work.back() != "look, ") done_.work.emplace_back("look, ");
      return inner().parameter(buffer);
    }

   private:
    using PassingExecutable::begin;  // of a program; the other is of an instruction
    void begin(const program::Instruction& instruction) override {
      // Each instruction begins for every pack.
      if (std::ranges::find(begun_, &instruction) == begun_.end()) {
        begun_.push_back(&instruction);
        done_.work.push_back(
            fmt::format("{}, {}", program::operation_name(instruction.operation), instruction.layer));
      }
      watcher_->begin(instruction);
    }
    void signal(program::EventId event) override { watcher_->signal(event); }

    const program::Program program_;
    Done& done_;
    device::Watcher* watcher_ = nullptr;
    std::vector<const program::Instruction*> begun_;
  };

  const std::unique_ptr<device::Device> inner_;
  Done& done_;
};

class NotingTransport final : public transport::Transport {
 public:
  NotingTransport(std::unique_ptr<transport::Transport> inner, Done& done)
      : inner_(std::move(inner)), done_(done) {}
  transport::Ticket start(std::span<const transport::Op> ops) override {
    for (const transport::Op& op : ops)
      (op.out.empty() ? done_.receives : done_.sends).push_back(fmt::format("rank {}", op.peer));
    return inner_->start(ops);
  }
  std::optional<transport::Ticket> wait_for_any(std::span<const transport::Ticket> tickets,
                                                std::chrono::nanoseconds timeout) override {
    return inner_->wait_for_any(tickets, timeout);
  }
  void abort() override { inner_->abort(); }
  std::vector<int> missing() const override { return inner_->missing(); }

 private:
  const std::unique_ptr<transport::Transport> inner_;
  Done& done_;
};

// Packs for every rank.
Job job_of_six_packs() {
  Job job = kJob;
  job.batch = 96;
  return job;
}

void expect_printed_runs(int ranks, const Machine& machine) {
  const Job job = job_of_six_packs();
  std::vector<Done> done(static_cast<std::size_t>(ranks));
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks; ++rank) names.push_back(fmt::format("cpu:{}", rank));
  auto devices = cpu::make_cpu_devices({.names = names, .threads = 1, .bind = false});
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    devices[rank] = std::make_unique<NotingDevice>(std::move(devices[rank]), done[rank]);
  transport::ThreadHub hub(ranks);
  run::Crew crew(std::move(devices),
                 {.share_cores = true, .connect = [&](int rank, transport::RankOptions options) {
                    return std::make_unique<NotingTransport>(hub.join(rank, std::move(options)),
                                                             done[static_cast<std::size_t>(rank)]);
                  }});
  const auto runner = make_training_runner(crew, job, machine, kData.train.size());
  runner->upload(initial_weights(job.model, job.seed));
  std::vector<std::uint32_t> examples;
  for (std::uint32_t e = 0; e < static_cast<std::uint32_t>(job.batch); ++e) examples.push_back(e);
  const std::vector<program::Program> programs =
      training_programs(job, data_plan(machine, ranks, crew.shares_cores()))
          .make(arithmetic::pack_count(job.batch));
  for (const bool again : {false, true}) {
    std::ranges::fill(done, Done{});
    runner->step({.minibatch = {kData.train.pixels.data(), kData.train.labels.data(), examples}});
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
      SCOPED_TRACE(fmt::format("rank {} of {}{}", rank, ranks, again ? ", second step" : ""));
      const Done wanted = printed(program::to_text(programs[rank]));
      EXPECT_EQ(done[rank].work, wanted.work);
      EXPECT_EQ(done[rank].sends, wanted.sends);
      EXPECT_EQ(done[rank].receives, wanted.receives);
      EXPECT_EQ(done[rank].joins, wanted.joins);
      EXPECT_GT(wanted.work.size(), 10U);
      EXPECT_EQ(wanted.sends.empty(), ranks == 1);
    }
  }
}

TEST(PrintedProgram, IsWhatEveryRankRuns) {
  for (const int ranks : {1, 2, 3}) {
    for (const bool shard : {false, true}) {
      SCOPED_TRACE(shard ? "sharded optimizer" : "whole replicas");
      expect_printed_runs(ranks, {.shard_optimizer = shard, .record = true});
    }
  }
}

}  // namespace
}  // namespace lockstep::train
