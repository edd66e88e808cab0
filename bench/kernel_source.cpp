// Prints the text of the GPU kernels as they are compiled for a GPU. bench/sass.py compiles it.
#include "device/gpu/kernel_source.h"

#include <cstdio>

int main() {
  const std::string source = lockstep::device::gpu::kernel_source(lockstep::device::gpu::kLaneStyle);
  return std::fwrite(source.data(), 1, source.size(), stdout) == source.size() ? 0 : 1;
}
