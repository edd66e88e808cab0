// For files that launch kernels over packs. What an operation launches is what
//
//   void launch(const PackLaunches& launches, const program::Add& add)
//
// does; the file ends with `template void PackLaunches::operator()(const program::Add&) const;`.
#pragma once
#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

template <class Operation>
void PackLaunches::operator()(const Operation& operation) const {
  launch(*this, operation);
}

}  // namespace lockstep::gpu
