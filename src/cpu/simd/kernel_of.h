// The kernel of a kind that has its kernels in its own file (layers/): run(Target, job) in the namespace of
// each instruction set. Included once there, behind them.
#pragma once
#include "base/error.h"
#include "cpu/kernels.h"

namespace lockstep::cpu {

template <class Job>
using KernelOfJob = void (*)(const Job&);

template <class Job, class... Targets>
KernelOfJob<Job> kernel_of_target(std::int64_t target) {
  KernelOfJob<Job> kernel = nullptr;
  ((Targets::kBit == target ? void(kernel = [](const Job& job) { run(Targets{}, job); }) : void()), ...);
  check(kernel != nullptr, "no kernel for Highway's target {}", target);
  return kernel;
}

// For the instruction set of the row.
template <class Job>
KernelOfJob<Job> kernel_of(const Kernels& row) {
  return kernel_of_target<Job
#if HWY_TARGETS & HWY_AVX3
                          ,
                          N_AVX3::Target
#endif
#if HWY_TARGETS & HWY_AVX2
                          ,
                          N_AVX2::Target
#endif
#if HWY_TARGETS & HWY_NEON
                          ,
                          N_NEON::Target
#endif
                          >(row.target);
}

}  // namespace lockstep::cpu
