#include "report/trace_file.h"

#include <limits>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace lockstep::report {
namespace {

using Lane = run::TraceSpan::Lane;

std::string trace_of(const std::vector<run::DeviceTrace>& devices) {
  std::ostringstream out;
  write_trace(out, devices);
  return out.str();
}

// The spans among the events, read back.
std::vector<nlohmann::json> spans_of(const std::vector<run::DeviceTrace>& devices) {
  const auto trace = nlohmann::json::parse(trace_of(devices));
  std::vector<nlohmann::json> spans;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") spans.push_back(event);
  }
  return spans;
}

TEST(TraceFile, HasItsBeginning) {
  EXPECT_TRUE(trace_of({{.device = "opencl:3", .spans = {}}}).starts_with(kTraceBeginning));
  EXPECT_TRUE(trace_of({{.device = "\"", .spans = {}}, {.device = "cpu:1", .spans = {}}})
                  .starts_with(kTraceBeginning));
}

TEST(TraceFile, NamesDevicesAndLanesThenWritesSpans) {
  const std::vector<run::DeviceTrace> devices{
      {.device = "cpu:0",
       .spans = {{.lane = Lane::compute, .name = "packs", .step = 7, .start = 0.001, .end = 0.0025}}}};
  EXPECT_EQ(trace_of(devices),
            R"({"displayTimeUnit":"ms","traceEvents":[
{"name":"process_name","ph":"M","pid":0,"args":{"name":"cpu:0"}},
{"name":"process_sort_index","ph":"M","pid":0,"args":{"sort_index":0}},
{"name":"thread_name","ph":"M","pid":0,"tid":10001,"args":{"name":"compute"}},
{"name":"thread_sort_index","ph":"M","pid":0,"tid":10001,"args":{"sort_index":0}},
{"name":"thread_name","ph":"M","pid":0,"tid":10002,"args":{"name":"exchange"}},
{"name":"thread_sort_index","ph":"M","pid":0,"tid":10002,"args":{"sort_index":1}},
{"name":"thread_name","ph":"M","pid":0,"tid":10003,"args":{"name":"wait"}},
{"name":"thread_sort_index","ph":"M","pid":0,"tid":10003,"args":{"sort_index":2}},
{"name":"packs","ph":"X","ts":1000.000,"dur":1500.000,"pid":0,"tid":10001,"args":{"step":7}}
]}
)");
}

TEST(TraceFile, EveryDeviceIsAProcessAndEverySpanIsInItsLane) {
  const std::vector<run::DeviceTrace> devices{
      {.device = "cpu:0", .spans = {{.lane = Lane::exchange, .name = "send", .step = 1}}},
      {.device = "cpu:1", .spans = {{.lane = Lane::wait, .name = "wait for cpu:0", .step = 2}}}};
  const std::vector<nlohmann::json> spans = spans_of(devices);
  ASSERT_EQ(spans.size(), 2);
  EXPECT_EQ(spans[0].at("pid"), 0);
  EXPECT_EQ(spans[0].at("tid"), 10002);
  EXPECT_EQ(spans[1].at("pid"), 1);
  EXPECT_EQ(spans[1].at("tid"), 10003);
  EXPECT_EQ(spans[1].at("args").at("step"), 2);
}

// As a viewer reads them: start and duration cut to nanoseconds.
TEST(TraceFile, SpansThatTouchStillTouchInAViewer) {
  run::DeviceTrace device{.device = "cpu:0", .spans = {}};
  for (int i = 0; i < 1000; ++i) {
    device.spans.push_back({.name = "packs", .start = i * 1.001e-6, .end = (i + 1) * 1.001e-6});
  }
  std::int64_t last_end = 0;
  for (const nlohmann::json& event : spans_of({device})) {
    const auto start = static_cast<std::int64_t>(event.at("ts").get<double>() * 1000);
    if (last_end != 0) {
      EXPECT_EQ(start, last_end);
    }
    last_end = start + static_cast<std::int64_t>(event.at("dur").get<double>() * 1000);
  }
  EXPECT_NE(last_end, 0);
}

TEST(TraceFile, AnyNameGivesValidJson) {
  const std::string name = "a\"b\\c\n\xff{}";
  const nlohmann::json trace =
      nlohmann::json::parse(trace_of({{.device = name, .spans = {{.name = name}}}})).at("traceEvents");
  EXPECT_EQ(trace.front().at("args").at("name"), "a\"b\\c\n\xEF\xBF\xBD{}");
  EXPECT_EQ(trace.back().at("name"), "a\"b\\c\n\xEF\xBF\xBD{}");
}

TEST(TraceFile, NoDeviceIsAnEmptyTrace) {
  EXPECT_TRUE(nlohmann::json::parse(trace_of({})).at("traceEvents").empty());
}

TEST(TraceFile, ASpanThatEndsBeforeItStartsIsADefect) {
  EXPECT_THROW(trace_of({{.device = "cpu:0", .spans = {{.name = "packs", .start = 2, .end = 1}}}}), Error);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(trace_of({{.device = "cpu:0", .spans = {{.name = "packs", .start = nan, .end = 1}}}}), Error);
}

}  // namespace
}  // namespace lockstep::report
