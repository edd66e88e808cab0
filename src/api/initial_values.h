// Initial values of parameters, between the public types and those of the rooms.
#pragma once
#include <optional>

#include <lockstep/model.h>

#include "model/initial_values.h"

namespace lockstep {
inline namespace api {

std::optional<model::InitialValues> to_inside(const std::optional<InitialValues>& values);
std::optional<InitialValues> to_public(const std::optional<model::InitialValues>& values);

}  // namespace api
}  // namespace lockstep
