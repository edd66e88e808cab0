// How much a program takes of a device's memory, and how many packs are worked on at once: as many as fit.
#pragma once
#include "device/device.h"
#include "gpu/driver.h"
#include "gpu/gpu_memory.h"

namespace lockstep::gpu {

MemorySizes memory_sizes(const program::Program& program, const device::LoadOptions& options,
                         const Driver& driver);

// Partial sums that wait for others on the stack, at most.
int deepest_stack(const program::Program& program);
std::size_t inbox_floats(const program::Program& program);

}  // namespace lockstep::gpu
