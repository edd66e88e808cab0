// Prints the text of the GPU kernels as they are compiled for a GPU. bench/sass.py compiles it.
#include "gpu/kernel_source.h"

#include <cstdio>

int main() {
  const std::string source = lockstep::gpu::kernel_source(lockstep::gpu::kLaneStyle);
  return std::fwrite(source.data(), 1, source.size(), stdout) == source.size() ? 0 : 1;
}
