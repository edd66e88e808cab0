#include "api/drive.h"

#include <thread>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"

namespace lockstep {
inline namespace api {
namespace {

void rethrow(std::exception_ptr& error) {
  if (error) std::rethrow_exception(std::exchange(error, nullptr));
}

template <class Work>
std::exception_ptr error_of(const Work& work) {
  try {
    work();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

void Caller::run(const std::function<void()>& call) {
  std::unique_lock lock(mutex_);
  call_ = &call;
  changed_.notify_all();
  for (;;) {
    changed_.wait(lock, [&] { return call_done_ || question_ || gone_; });
    if (question_) {
      const std::function<void()> question = std::exchange(question_, nullptr);
      lock.unlock();
      std::exception_ptr error = error_of(question);
      lock.lock();
      question_error_ = std::move(error);
      question_done_ = true;
      changed_.notify_all();
    } else if (call_done_) {
      call_done_ = false;
      rethrow(call_error_);
      return;
    } else {
      throw Gone{};
    }
  }
}

void Caller::ask(std::function<void()> question) {
  std::unique_lock lock(mutex_);
  question_ = std::move(question);
  changed_.notify_all();
  changed_.wait(lock, [&] { return question_done_ || why_; });
  if (!question_done_) throw Error(Fault::device, "{}", why_.value_or(""));
  question_done_ = false;
  rethrow(question_error_);
}

void Caller::leave(const std::string& why) {
  const std::lock_guard lock(mutex_);
  why_ = why;
  changed_.notify_all();
}

void Caller::finish(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  done_ = true;
  changed_.notify_all();
}

bool Caller::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ || why_ || call_ != nullptr; });
  if (done_) return true;
  if (why_) {
    gone_ = true;
    changed_.notify_all();
    throw Error(Fault::device, "{}", *why_);
  }
  const std::function<void()>* const call = std::exchange(call_, nullptr);
  lock.unlock();
  std::exception_ptr error = error_of(*call);
  lock.lock();
  call_error_ = std::move(error);
  call_done_ = true;
  changed_.notify_all();
  return false;
}

void drive(std::function<void(Caller&)> work) {
  const auto caller = std::make_shared<Caller>();
  std::thread thread([caller, work = std::move(work)]() mutable {
    const FloatEnvironment environment;  // the thread has inherited its caller's
    std::exception_ptr error = error_of([&] { std::exchange(work, nullptr)(*caller); });
    caller->finish(std::move(error));
  });
  try {
    while (!caller->wait()) {
    }
  } catch (...) {
    thread.detach();
    throw;
  }
  thread.join();
  rethrow(caller->error_);
}

}  // namespace api
}  // namespace lockstep
