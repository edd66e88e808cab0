// The law's exp and log, one float at a time. Error bounds and special values: elementary.inc.
#pragma once

namespace lockstep::arithmetic {

// exp(0) = 1; underflows through denormals to +0, overflows to +inf; NaN passes.
float exp_law(float x);

// log(1) = +0, log(+-0) = -inf, log(+inf) = +inf, log(negative) = NaN; NaN passes.
float log_law(float x);

}  // namespace lockstep::arithmetic
