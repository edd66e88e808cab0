// This computer in the words of its system.
#pragma once
#include <cstddef>
#include <string>

namespace lockstep::app {

std::string processor_model();   // "unknown" if the system does not say
std::string operating_system();  // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64"
std::size_t host_memory();       // bytes
std::string host_name();

}  // namespace lockstep::app
