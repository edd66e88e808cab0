// Which task runs next, and what happens when one fails.
#include "driver/scheduler.h"

#include <algorithm>

#include "driver/system.h"

namespace standin {
namespace {

bool can_run(const Stream& stream) {
  if (stream.queue.empty() || stream.running || stream.device->busy) return false;
  const std::vector<Point>& after = stream.queue.front().after;
  return std::all_of(after.begin(), after.end(), reached);
}

// A failure that was told before: it carries no text, so that the first text stays the one to be read.
Problem silent(Code code) { return {code, ""}; }

}  // namespace

std::uint64_t Scheduler::next_random() {  // xorshift64
  random_ += random_ == 0 ? 1 : 0;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_ * 0x2545f4914f6cdd1d >> 16;
}

void Scheduler::check_locked(const Device& device) const {
  if (device.error != Code::success) throw silent(device.error);
}

void Scheduler::check(const Device& device) const {
  const Lock lock(mutex_);
  check_locked(device);
}

void Scheduler::fail_locked(Device& device, Code code) {
  device.error = code;
  for (const std::shared_ptr<Stream>& stream : device.streams) {
    // the task under way stays in the queue until it returns
    while (stream->queue.size() > (stream->running ? 1u : 0u)) stream->queue.pop_back();
    stream->done = stream->enqueued - stream->queue.size();
  }
  changed_.notify_all();
}

void Scheduler::fail(Device& device, Code code) {
  const Lock lock(mutex_);
  fail_locked(device, code);
}

Point Scheduler::enqueue(const std::shared_ptr<Stream>& stream, Task task) {
  const Lock lock(mutex_);
  Device& device = *stream->device;
  check_locked(device);
  if (stream->error != Code::success) throw silent(stream->error);
  // The default stream and the others that are ordered with it wait for one another.
  const auto add = [&](const std::shared_ptr<Stream>& other) {
    if (other != stream && other->done < other->enqueued) task.after.push_back({other, other->enqueued});
  };
  if (stream == device.default_stream) {
    for (const std::shared_ptr<Stream>& other : device.streams) {
      if (other->ordered_with_default) add(other);
    }
  } else if (stream->ordered_with_default) {
    add(device.default_stream);
  }
  stream->queue.push_back(std::move(task));
  return {stream, ++stream->enqueued};
}

// The streams that must move for the point to be reached.
std::vector<std::shared_ptr<Stream>> Scheduler::needed_for(const Point& point) const {
  std::vector<std::shared_ptr<Stream>> needed{point.stream};
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (const Task& task : needed[i]->queue) {
      for (const Point& after : task.after) {
        if (!reached(after) && std::find(needed.begin(), needed.end(), after.stream) == needed.end()) {
          needed.push_back(after.stream);
        }
      }
    }
  }
  return needed;
}

// A stream whose first task can run, or none.
std::shared_ptr<Stream> Scheduler::choose(const Point& point, Preference preference) {
  std::vector<std::shared_ptr<Stream>> needed = needed_for(point);
  std::vector<std::shared_ptr<Stream>> others;
  for (const std::shared_ptr<Stream>& stream : point.stream->device->streams) {
    if (std::find(needed.begin(), needed.end(), stream) == needed.end() && can_run(*stream))
      others.push_back(stream);
  }
  std::erase_if(needed, [](const auto& stream) { return !can_run(*stream); });
  if (!shuffled_) return needed.empty() ? nullptr : needed.front();
  if (preference == Preference::any) needed.insert(needed.end(), others.begin(), others.end());
  std::vector<std::shared_ptr<Stream>>& from =
      preference == Preference::others_first && !others.empty() ? others : needed;
  return from.empty() ? nullptr : from[next_random() % from.size()];
}

void Scheduler::run_first(Lock& lock, const std::shared_ptr<Stream>& stream) {
  Device& device = *stream->device;
  stream->running = true;
  device.busy = true;
  ++under_way_;
  std::function<void()> work = std::move(stream->queue.front().work);
  lock.unlock();
  Code code = Code::success;
  try {
    if (work) work();
  } catch (...) {  // whatever it is: the device must not stay busy
    code = record_exception();
  }
  work = nullptr;
  lock.lock();
  --under_way_;
  device.busy = false;
  stream->running = false;
  stream->queue.pop_front();
  stream->done = stream->enqueued - stream->queue.size();
  if (code == Code::device_unavailable) {  // another device was lost: this one lives on, its stream does not
    stream->error = code;
    stream->queue.clear();
    stream->done = stream->enqueued;
  } else if (code != Code::success && device.error == Code::success) {
    fail_locked(device, code);
  }
  changed_.notify_all();
}

void Scheduler::wait(const Point& point) {
  if (!point.stream) return;
  Lock lock(mutex_);
  const auto preference = static_cast<Preference>(next_random() % 3);
  while (!reached(point)) {
    if (const std::shared_ptr<Stream> stream = choose(point, preference)) {
      run_first(lock, stream);
    } else if (anything_under_way()) {
      changed_.wait(lock);
    } else {
      throw Problem(Code::unknown, "the streams wait for one another in a circle");
    }
  }
  check_locked(*point.stream->device);
  if (point.stream->error != Code::success) throw silent(point.stream->error);
}

bool Scheduler::poll(const Point& point) {
  if (!point.stream) return true;
  Lock lock(mutex_);
  if (!reached(point)) {
    if (const std::shared_ptr<Stream> stream = choose(point, Preference::any)) run_first(lock, stream);
  }
  check_locked(*point.stream->device);
  if (point.stream->error != Code::success) throw silent(point.stream->error);
  return reached(point);
}

Point Scheduler::end_of(const std::shared_ptr<Stream>& stream) const {
  const Lock lock(mutex_);
  return {stream, stream->enqueued};
}

void Scheduler::wait_for_stream(const std::shared_ptr<Stream>& stream) { wait(end_of(stream)); }

bool Scheduler::poll_stream(const std::shared_ptr<Stream>& stream) { return poll(end_of(stream)); }

void Scheduler::wait_for_device(Device& device) {
  std::vector<Point> points;
  {
    const Lock lock(mutex_);
    check_locked(device);
    for (const std::shared_ptr<Stream>& stream : device.streams) points.push_back({stream, stream->enqueued});
    if (shuffled_) {
      for (std::size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[next_random() % i]);
    }
  }
  for (const Point& point : points) wait(point);
}

}  // namespace standin
