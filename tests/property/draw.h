// How often what is drawn.
#pragma once
#include <rapidcheck.h>

#include "property/case.h"

namespace lockstep::property {

rc::Gen<Case> any_case();

}  // namespace lockstep::property
