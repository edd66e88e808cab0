// Streams and events.
#include <algorithm>

#include "driver/api.h"

namespace standin {
namespace {

constexpr unsigned kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned kDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING

// A copy of the event's last record, safe from a record that another thread makes.
Event snapshot(const System& system, CUevent handle) {
  const std::shared_ptr<Event> event = system.events.get(handle);
  const std::lock_guard lock(system.scheduler.mutex());
  return *event;
}

void not_ready() { throw Problem(Code::not_ready, ""); }

}  // namespace
}  // namespace standin

using namespace standin;  // NOLINT: the functions below are C's

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return guarded([&] {
    Device& device = current_device();
    auto made = std::make_shared<Stream>();
    made->device = &device;
    made->ordered_with_default = (flags & kNonBlocking) == 0;
    {
      const std::lock_guard lock(device.system->scheduler.mutex());
      device.streams.push_back(made);
    }
    given(stream) = reinterpret_cast<CUstream>(device.system->streams.add(std::move(made)));
  });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    const std::shared_ptr<Stream> removed = system->streams.remove(stream);
    system->scheduler.wait_for_stream(removed);
    const std::lock_guard lock(system->scheduler.mutex());
    std::erase(removed->device->streams, removed);
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return guarded([&] {
    const std::shared_ptr<Stream> in = stream_of(stream);
    in->device->system->scheduler.wait_for_stream(in);
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return guarded([&] {
    const std::shared_ptr<Stream> in = stream_of(stream);
    if (!in->device->system->scheduler.poll_stream(in)) not_ready();
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  return guarded([&] {
    const std::shared_ptr<Stream> in = stream_of(stream);
    System& system = *in->device->system;
    const Event recorded = snapshot(system, event);
    if (recorded.point.stream) system.scheduler.enqueue(in, {{recorded.point}, {}});
  });
}

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return guarded([&] {
    Device& device = current_device();
    auto made = std::make_shared<Event>();
    made->device = &device;
    made->timed = (flags & kDisableTiming) == 0;
    given(event) = reinterpret_cast<CUevent>(device.system->events.add(std::move(made)));
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return guarded([&] { ready_system()->events.remove(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return guarded([&] {
    const std::shared_ptr<Stream> in = stream_of(stream);
    System& system = *in->device->system;
    const std::shared_ptr<Event> recorded = system.events.get(event);
    if (recorded->device != in->device) {
      throw Problem(Code::invalid_handle, "an event of device {} recorded in a stream of device {}",
                    recorded->device->index, in->device->index);
    }
    auto when = std::make_shared<std::optional<Event::Clock::time_point>>();
    Point point = system.scheduler.enqueue(in, {{}, [when] { *when = Event::Clock::now(); }});
    const std::lock_guard lock(system.scheduler.mutex());
    recorded->point = std::move(point);
    recorded->when = std::move(when);
  });
}

CUresult cuEventQuery(CUevent event) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    if (!system->scheduler.poll(snapshot(*system, event).point)) not_ready();
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    system->scheduler.wait(snapshot(*system, event).point);
  });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return guarded([&] {
    const std::shared_ptr<System> system = ready_system();
    const Event first = snapshot(*system, begin);
    const Event last = snapshot(*system, end);
    if (!first.point.stream || !last.point.stream || !first.timed || !last.timed) {
      throw Problem(Code::invalid_handle,
                    "cuEventElapsedTime of an event that was not recorded or has no timing");
    }
    const std::lock_guard lock(system->scheduler.mutex());
    if (!reached(first.point) || !reached(last.point)) not_ready();
    if (!first.when->has_value() || !last.when->has_value()) not_ready();
    given(milliseconds) = std::chrono::duration<float, std::milli>(**last.when - **first.when).count();
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

}  // extern "C"
