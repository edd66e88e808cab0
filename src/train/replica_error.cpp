#include "train/replica_error.h"

#include <fmt/ranges.h>

namespace lockstep::train {

Error replica_error(const run::ReplicaFinding& finding, const model::Model& model,
                    const std::vector<std::string>& devices) {
  const std::string tensor = model::parameters_of(model)[finding.parameter].name;
  const bool finite = finding.kind != run::ReplicaFinding::Kind::not_finite;
  if (!finite && finding.step == 0)
    return Error(Fault::diverged, "{} is not finite before the first step; begin with other weights", tensor);
  if (!finite)
    return Error(Fault::diverged,
                 "step {}: {} is not finite after its update; nothing of it was saved, try a smaller --lr",
                 finding.step, tensor);
  std::vector<std::string> named;
  named.reserve(finding.devices.size());
  for (const int device : finding.devices) named.push_back(devices[static_cast<std::size_t>(device)]);
  const std::string what = fmt::format("step {}: the replicas of {} differ (they were equal after step {})",
                                       finding.step, tensor, finding.well_after);
  if (named.size() == devices.size())
    return Error(
        Fault::verification,
        "{}: {} have no majority; lockstep verify shows who is wrong, go on from the last checkpoint "
        "without it",
        what, fmt::join(named, " and "));
  return Error(Fault::verification,
               "{}: {} {} outvoted by the other {}; go on from the last checkpoint without {}", what,
               fmt::join(named, " and "), named.size() == 1 ? "is" : "are", devices.size() - named.size(),
               named.size() == 1 ? "it" : "them");
}

}  // namespace lockstep::train
