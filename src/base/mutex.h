// A mutex, a lock and a condition that clang's thread-safety analysis understands (std::mutex does not carry
// the annotations in libstdc++). The annotations are the one set of macros of the project.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define LOCKSTEP_ANNOTATION(x) __attribute__((x))
#else
#define LOCKSTEP_ANNOTATION(x)
#endif
#define CAPABILITY(name) LOCKSTEP_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY LOCKSTEP_ANNOTATION(scoped_lockable)
#define GUARDED_BY(mutex) LOCKSTEP_ANNOTATION(guarded_by(mutex))
#define REQUIRES(...) LOCKSTEP_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) LOCKSTEP_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) LOCKSTEP_ANNOTATION(release_capability(__VA_ARGS__))

namespace lockstep {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() RELEASE() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  friend class Condition;
  Mutex& mutex_;
};

class Condition {
 public:
  void notify_all() { condition_.notify_all(); }

  // Gives the lock up while it waits. False if `timeout` passed first; wakes by itself now and then.
  bool wait_for(Lock& lock, std::chrono::nanoseconds timeout) {
    std::unique_lock<std::mutex> held(lock.mutex_.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_for(held, timeout);
    held.release();
    return status == std::cv_status::no_timeout;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace lockstep
