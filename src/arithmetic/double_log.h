// The natural logarithm in double, the same bits on every host: for what is made once on the host (normal
// numbers), not for kernels.
#pragma once

namespace lockstep::arithmetic {

// Below 2 ulp. Requires: x positive, normal and finite.
double log_double(double x);

}  // namespace lockstep::arithmetic
