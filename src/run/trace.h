// What a device did, when, and what it waited for.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::run {

struct TraceSpan {
  enum class Lane { compute, exchange, wait };
  Lane lane = Lane::compute;
  std::string name;  // "packs", "post messages", "wait for other devices"
  std::int64_t step = 0;
  double start = 0, end = 0;  // seconds since the start of the trace
};

struct DeviceTrace {
  std::string device;  // "cpu:0"
  std::vector<TraceSpan> spans;
};

}  // namespace lockstep::run
