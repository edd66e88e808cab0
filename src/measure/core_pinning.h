// Threads on cores of their own.
#pragma once
#include <vector>

namespace lockstep::measure {

// Numbers of the cores this thread may use, rising.
std::vector<int> usable_core_numbers();

// Binds the calling thread to one core. Throws Error(device) if the system refuses.
void pin_this_thread(int core);

}  // namespace lockstep::measure
