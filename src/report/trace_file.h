// trace.json: what every device did and when, for ui.perfetto.dev and chrome://tracing (Trace Event Format,
// JSON object). One process per device in the given order, each with the lanes compute, exchange and wait.
#pragma once
#include <ostream>
#include <span>
#include <string_view>

#include "run/trace.h"

namespace lockstep::report {

// What every trace that write_trace() writes for at least one device begins with.
inline constexpr std::string_view kTraceBeginning =
    R"({"displayTimeUnit":"ms","traceEvents":[)"
    "\n"
    R"({"name":"process_name","ph":"M","pid":0,"args":{"name":")";

// Writes span by span. Times are kept to the eighth of a microsecond.
// Requires: spans are finite and end no sooner than they start; in one lane of one device they follow each
// other or lie one inside the other, because Perfetto drops a span that crosses the end of another.
void write_trace(std::ostream& out, std::span<const run::DeviceTrace> devices);

}  // namespace lockstep::report
