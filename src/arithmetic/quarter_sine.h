// sin(pi/2 * u) in double, the same bits on every host: for learning rates, which are made once a step on the
// host, not for kernels.
#pragma once

namespace lockstep::arithmetic {

// Below 2 ulp. Requires: u from 0 to 1.
double quarter_sine(double u);

}  // namespace lockstep::arithmetic
