// The devices a call runs on.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/drive.h"
#include "run/crew.h"

namespace lockstep {
inline namespace api {

// What is called when a device makes no progress, and after how long.
struct Patience {
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  // Told in one line, again after every further timeout, on a thread of the library. Must not throw. Null:
  // the line goes to standard error, so that the user of a call that does not return sees the reason.
  std::function<void(const std::string&)> on_stuck = nullptr;
};

// The same with an on_stuck that is never null.
Patience with_listener(Patience patience);

// After `timeout` seconds without progress the caller returns with an error that names the stuck device.
Patience leaving(Caller& caller, double timeout);
// Throws Error(usage) for a timeout beyond its limits.
void expect_timeout(double timeout);

// `threads` of each device; 0: the cores this process may use, divided among them. A device that makes no
// progress ends the waits of the others with Error(device). Throws Error(usage) for numbers beyond limits.
std::unique_ptr<run::Crew> make_crew(const std::vector<std::string>& names, int threads,
                                     const Patience& patience = {});
std::unique_ptr<run::Crew> make_crew(std::string_view list, int threads, const Patience& patience = {});

}  // namespace api
}  // namespace lockstep
