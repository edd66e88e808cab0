// Results for stdout. If bytes are lost, the program fails with an error.
#pragma once
#include <string_view>

namespace lockstep::app {

// Writes all of it now. Throws Error(ours) with the system's reason: the reader is gone, the disk is full.
void print_result(std::string_view text);

// One line for stderr, "lockstep: ...". Line ends and other control characters become spaces.
void print_error(std::string_view message);

// Call first. A standard descriptor that is closed would be given to the next file that is opened, which then
// received our results; a place that refuses every byte stands in for it. A write to a pipe without reader,
// or past the limit of file sizes, becomes an error instead of a signal that ends the process.
void prepare_standard_streams();

}  // namespace lockstep::app
