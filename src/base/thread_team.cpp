#include "base/thread_team.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/float_environment.h"
#include "base/spin.h"

namespace lockstep {

ThreadTeam::ThreadTeam(Options options)
    : options_(std::move(options)), members_(static_cast<std::size_t>(options_.threads)) {
  threads_.reserve(static_cast<std::size_t>(options_.threads));
  try {
    for (int member = 1; member < options_.threads; ++member) {
      threads_.emplace_back([this, member] {
        if (options_.on_start) options_.on_start(member);
        serve(member);
      });
    }
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size() + 1;
    dismiss();
    throw Error(Fault::device,
                "{}: only {} of {} threads could be started ({}); ask for fewer with --threads",
                options_.name, started, options_.threads, error.code().message());
  } catch (...) {
    dismiss();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { dismiss(); }

void ThreadTeam::dismiss() {
  leaving_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::run(const std::function<void(int)>& work) {
  work_ = &work;
  left_ = options_.threads - 1;
  const std::uint64_t round = ++round_;
  round_.notify_all();
  perform(0, work);
  wait_for_all(round);
  for (Member& member : members_) {
    if (std::exception_ptr error = std::exchange(member.error, nullptr)) {
      for (Member& other : members_) other.error = nullptr;
      std::rethrow_exception(error);
    }
  }
}

void ThreadTeam::perform(int member, const std::function<void(int)>& work) {
  try {
    const FloatEnvironment environment;
    work(member);
  } catch (...) {
    members_[static_cast<std::size_t>(member)].error = std::current_exception();
  }
}

void ThreadTeam::serve(int member) {
  for (std::uint64_t seen = 0;;) {
    if (!options_.spin || !spin_until([&] { return round_ != seen; })) round_.wait(seen);
    if (round_ == seen) continue;
    ++seen;
    if (leaving_) return;
    perform(member, *work_);
    members_[static_cast<std::size_t>(member)].done = seen;
    if (--left_ > 0) continue;
    const Lock lock(mutex_);  // so that the notice cannot fall between the caller's look and its wait
    all_finished_.notify_all();
  }
}

void ThreadTeam::wait_for_all(std::uint64_t round) {
  const auto finished = [&] { return left_ == 0; };
  if (finished() || (options_.spin && spin_until(finished))) return;
  // The clock goes on while the process is stopped: a timeout is ten slices of waiting, and a stop costs one.
  constexpr int kSlices = 10;
  int passed = 0;
  Lock lock(mutex_);
  while (!finished()) {
    passed += all_finished_.wait_for(lock, options_.timeout / kSlices) ? 0 : 1;
    if (!finished() && passed >= kSlices) {
      if (options_.on_stuck) options_.on_stuck(missing(round));
      passed = 0;
    }
  }
}

std::string ThreadTeam::missing(std::uint64_t round) const {
  std::string who;
  for (std::size_t member = 1; member < members_.size(); ++member) {
    if (members_[member].done < round) who += fmt::format("{}{}", who.empty() ? "" : ", ", member);
  }
  const double seconds = std::chrono::duration<double>(options_.timeout).count();
  return fmt::format("{}: no answer from thread {} of {} for {} s", options_.name, who, members_.size(),
                     seconds);
}

}  // namespace lockstep
