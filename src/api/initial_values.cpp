#include "api/initial_values.h"

namespace lockstep {
inline namespace api {
namespace {

struct InitialToInside {
  model::InitialValues operator()(const Normal& v) const { return model::Normal{v.sigma}; }
  model::InitialValues operator()(const KaimingUniform&) const { return model::KaimingUniform{}; }
  model::InitialValues operator()(const XavierUniform&) const { return model::XavierUniform{}; }
  model::InitialValues operator()(const Constant& v) const { return model::Constant{v.value}; }
};
struct InitialToPublic {
  InitialValues operator()(const model::Normal& v) const { return Normal{v.sigma}; }
  InitialValues operator()(const model::KaimingUniform&) const { return KaimingUniform{}; }
  InitialValues operator()(const model::XavierUniform&) const { return XavierUniform{}; }
  InitialValues operator()(const model::Constant& v) const { return Constant{v.value}; }
};
}  // namespace

std::optional<model::InitialValues> to_inside(const std::optional<InitialValues>& values) {
  if (!values) return std::nullopt;
  return std::visit(InitialToInside{}, *values);
}
std::optional<InitialValues> to_public(const std::optional<model::InitialValues>& values) {
  if (!values) return std::nullopt;
  return std::visit(InitialToPublic{}, *values);
}

}  // namespace api
}  // namespace lockstep
