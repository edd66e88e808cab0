// Compiled for its syntax only: that the words and elementary.inc are OpenCL C 1.2.
#include "arithmetic/elementary_opencl.h"
#include "arithmetic/elementary.inc"

kernel void exp_and_log(global const float* x, global float* exp_of, global float* log_of) {
  const size_t i = get_global_id(0);
  exp_of[i] = ls_exp(x[i]);
  log_of[i] = ls_log(x[i]);
}
