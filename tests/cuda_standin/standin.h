// What the stand-in offers beside the CUDA driver API.
#pragma once

extern "C" {

// Begins anew as another machine; the text is that of CUDA_STANDIN (driver/configuration.h). Every handle and
// every context of before is gone. Nothing may be under way. Gives a CUresult.
int standin_configure(const char* text);

// What went wrong last, in words; empty if nothing did. Valid until the thread's next call.
const char* standin_last_error();

// How many instructions all threads of all launches have executed.
unsigned long long standin_instructions();
}
