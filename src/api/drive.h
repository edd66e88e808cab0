// Work on a thread of its own, so that a call can return with an error while a device is stuck.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace lockstep {
inline namespace api {

// The thread that waits for the work.
class Caller {
 public:
  struct Gone {};  // thrown in the work after its caller has returned

  // From the work's thread: runs `call` on the caller's thread, and throws what it throws.
  void run(const std::function<void()>& call);

  // From inside such a call: runs `question` on the work's thread, and throws what it throws. What it refers
  // to must outlive the caller. Throws Error(device) if the work gets stuck with it.
  void ask(std::function<void()> question);

  // From any thread: the caller waits no longer and throws Error(device) with this text.
  void leave(const std::string& why);

 private:
  friend void drive(std::function<void(Caller&)> work);
  void finish(std::exception_ptr error);
  bool wait();  // true when the work is done; throws when the caller has left

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* call_ = nullptr;
  std::function<void()> question_;
  bool call_done_ = false, question_done_ = false, done_ = false, gone_ = false;
  std::exception_ptr call_error_, question_error_, error_;
  std::optional<std::string> why_;
};

// Runs `work` on a new thread, in the law's floating-point environment. Returns when the work is done;
// rethrows an exception of the work. After Caller::leave(), drive() throws at once. The new thread then goes
// on alone until the stuck device comes back, because a thread inside a driver's call can be neither
// interrupted nor joined. So `work` must own everything that it uses.
void drive(std::function<void(Caller&)> work);

template <class Result>
Result drive_to(std::function<Result(Caller&)> work) {
  const auto result = std::make_shared<std::unique_ptr<Result>>();
  drive(
      [result, work = std::move(work)](Caller& caller) { *result = std::make_unique<Result>(work(caller)); });
  return std::move(**result);
}

}  // namespace api
}  // namespace lockstep
