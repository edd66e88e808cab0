#include "arithmetic/scalar.h"

#include "arithmetic/elementary_scalar.h"

namespace lockstep::arithmetic {
namespace scalar_words {
namespace {
#include "arithmetic/elementary.inc"
}  // namespace
}  // namespace scalar_words

float exp_law(float x) { return scalar_words::ls_exp(x); }
float log_law(float x) { return scalar_words::ls_log(x); }

}  // namespace lockstep::arithmetic
