#include "report/trace_file.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <fmt/core.h>

#include "base/error.h"
#include "report/json_string.h"

namespace lockstep::report {
namespace {

using Lane = run::TraceSpan::Lane;

struct LaneName {
  Lane lane;
  std::string_view name;
};
constexpr std::array kLanes{LaneName{Lane::compute, "compute"}, LaneName{Lane::exchange, "exchange"},
                            LaneName{Lane::wait, "wait"}};

// Perfetto shows the thread whose number is its process's above the others, and some of its versions merge
// thread 0 with thread 1: so lanes are numbered from far above the devices.
constexpr int kFirstThread = 10'001;

int thread_of(Lane lane) { return kFirstThread + static_cast<int>(lane); }

// Viewers read times as doubles and cut them to nanoseconds. Eighths of a microsecond pass through that
// unchanged, so spans that touch still touch and none crosses the end of another.
constexpr int kTicksPerMicrosecond = 8;

std::int64_t ticks(double seconds) { return std::llround(seconds * 1e6 * kTicksPerMicrosecond); }

std::string microseconds(std::int64_t ticks) {
  return fmt::format("{:.3f}", static_cast<double>(ticks) / kTicksPerMicrosecond);
}

// One event a line, a comma before each but the first.
class Events {
 public:
  explicit Events(std::ostream& out) : out_(out) {}

  void add(std::string_view event) {
    out_ << (first_ ? "\n" : ",\n") << event;
    first_ = false;
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

void name_device(Events& events, std::size_t number, const run::DeviceTrace& device) {
  events.add(fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", number,
                         json_string(device.device)));
  events.add(fmt::format(R"({{"name":"process_sort_index","ph":"M","pid":{0},"args":{{"sort_index":{0}}}}})",
                         number));
  for (const LaneName& lane : kLanes) {
    const int thread = thread_of(lane.lane);
    events.add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                           number, thread, lane.name));
    events.add(
        fmt::format(R"({{"name":"thread_sort_index","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                    number, thread, static_cast<int>(lane.lane)));
  }
}

void add_span(Events& events, std::size_t number, const run::TraceSpan& span) {
  check(std::isfinite(span.start) && std::isfinite(span.end) && span.start <= span.end,
        "trace span \"{}\" of step {} goes from {} s to {} s", span.name, span.step, span.start, span.end);
  const std::int64_t start = ticks(span.start), end = ticks(span.end);
  events.add(fmt::format(R"({{"name":{},"ph":"X","ts":{},"dur":{},"pid":{},"tid":{},"args":{{"step":{}}}}})",
                         json_string(span.name), microseconds(start), microseconds(end - start), number,
                         thread_of(span.lane), span.step));
}

}  // namespace

void write_trace(std::ostream& out, std::span<const run::DeviceTrace> devices) {
  out << R"({"displayTimeUnit":"ms","traceEvents":[)";
  Events events(out);
  for (std::size_t number = 0; number < devices.size(); ++number) {
    name_device(events, number, devices[number]);
    for (const run::TraceSpan& span : devices[number].spans) add_span(events, number, span);
  }
  out << "\n]}\n";
}

}  // namespace lockstep::report
