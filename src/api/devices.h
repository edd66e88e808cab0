// The devices a call runs on.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "run/crew.h"

namespace lockstep {
inline namespace api {

// `threads` of each device; 0: the cores this process may use, divided among them. A device that makes no
// progress ends the waits of the others with Error(device). Throws Error(usage) for numbers beyond limits.
std::unique_ptr<run::Crew> make_crew(const std::vector<std::string>& names, int threads);
std::unique_ptr<run::Crew> make_crew(std::string_view list, int threads);

}  // namespace api
}  // namespace lockstep
