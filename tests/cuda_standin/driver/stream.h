// Streams, the tasks in them, and events: what is to be done, in which order.
//
// Every task has a number in its stream. A task may run once it is the first of its stream and all tasks it
// names as `after` are done. An event is only the number of a task in a stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "problem.h"

namespace standin {

struct Device;
struct Stream;

struct Point {
  std::shared_ptr<Stream> stream;
  std::uint64_t number = 0;
};

struct Task {
  std::vector<Point> after;
  std::function<void()> work;  // may be empty; throws Problem
};

struct Stream {
  Device* device = nullptr;
  bool ordered_with_default = true;  // false: made with CU_STREAM_NON_BLOCKING
  std::deque<Task> queue;
  std::uint64_t enqueued = 0;  // the number of the last task
  std::uint64_t done = 0;      // tasks up to this number are done
  bool running = false;        // the first task of the queue is under way
  Code error = Code::success;
};

struct Event {
  using Clock = std::chrono::steady_clock;
  Device* device = nullptr;
  bool timed = true;
  Point point;  // of the last record; no stream if there was none
  std::shared_ptr<std::optional<Clock::time_point>> when;
};

inline bool reached(const Point& point) { return !point.stream || point.stream->done >= point.number; }

}  // namespace standin
