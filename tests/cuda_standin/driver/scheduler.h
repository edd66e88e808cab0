// Decides which task runs next. Nothing runs when it is enqueued: tasks run when somebody waits, on the
// thread of the one who waits, in an order drawn from the seed among all that the streams and events allow.
// So a program that forgot an event gets wrong numbers. One task of a device runs at a time; devices run side
// by side.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/stream.h"

namespace standin {

class Scheduler {
 public:
  Scheduler(std::uint64_t seed, bool shuffled) : random_(seed), shuffled_(shuffled) {}

  // Adds a task; gives its point. Throws the device's error if it has failed.
  Point enqueue(const std::shared_ptr<Stream>& stream, Task task);
  // Runs tasks until the point is reached. Throws the error of its stream or device.
  void wait(const Point& point);
  // Runs at most one task, then says whether the point is reached.
  bool poll(const Point& point);
  // The same for everything a stream holds now.
  void wait_for_stream(const std::shared_ptr<Stream>& stream);
  bool poll_stream(const std::shared_ptr<Stream>& stream);
  void wait_for_device(Device& device);

  // Throws without a text if the device has failed: the text was recorded when it happened.
  void check(const Device& device) const;
  // Drops all its tasks; from now on every use of it fails with the code.
  void fail(Device& device, Code code);

  std::mutex& mutex() const { return mutex_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Preference { needed_first, others_first, any };

  void check_locked(const Device& device) const;
  void fail_locked(Device& device, Code code);
  Point end_of(const std::shared_ptr<Stream>& stream) const;
  std::vector<std::shared_ptr<Stream>> needed_for(const Point& point) const;
  std::shared_ptr<Stream> choose(const Point& point, Preference preference);
  void run_first(Lock& lock, const std::shared_ptr<Stream>& stream);
  bool anything_under_way() const { return under_way_ > 0; }
  std::uint64_t next_random();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t random_;
  const bool shuffled_;
  int under_way_ = 0;
};

}  // namespace standin
