// A device's context, and what is given back to it with its owner.
#pragma once
#include <memory>
#include <type_traits>

#include "gpu/cuda/library.h"

namespace lockstep::gpu::cuda {

// The device's context, the same for all users of the device. CUDA keeps for every thread which context its
// calls mean, and a device is made on one thread and driven by another: so every caller of CUDA says use()
// first.
class HeldContext {
 public:
  HeldContext(const Library& library, const Found& found) : api_(library.api()), device_(found.device) {
    library.expect(api_.DevicePrimaryCtxRetain(&context_, device_), found.facts.name,
                   "cuDevicePrimaryCtxRetain");
  }
  ~HeldContext() { api_.DevicePrimaryCtxRelease(device_); }
  HeldContext(const HeldContext&) = delete;
  HeldContext& operator=(const HeldContext&) = delete;

  Result use() const { return api_.CtxSetCurrent(context_); }
  Context get() const { return context_; }
  const Api& api() const { return api_; }

 private:
  const Api& api_;
  const Ordinal device_;
  Context context_ = nullptr;
};

// `destroy` is the member of Api that gives the object back.
template <auto destroy>
struct Destroy {
  const HeldContext* context = nullptr;

  template <class Object>
  void operator()(Object* object) const {
    if (context->use() == kSuccess) (context->api().*destroy)(object);
  }
};

// Requires: the context outlives it. Others may hold the context, too, so that nothing goes with it.
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

using OwnedModule = Owned<Module, &Api::ModuleUnload>;
using OwnedStream = Owned<Stream, &Api::StreamDestroy>;
using OwnedEvent = Owned<CuEvent, &Api::EventDestroy>;

}  // namespace lockstep::gpu::cuda
