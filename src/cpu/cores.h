// The cores this process may use, and binding threads to them.
#pragma once
#include <memory>

#include "device/device.h"

namespace lockstep::cpu {

// Cores this process may use: affinity, cgroup, and the cgroup's quota of processor time.
int usable_cores();

// How many threads each of `devices` devices gets: `wanted`, or with 0 the usable cores divided among them.
int threads_of_each(int devices, int wanted);

// Do these threads have to share cores?
bool share_cores(int devices, int threads);

// The machine as hwloc sees it, restricted to what this process may use. May be shared by threads.
class Cores {
 public:
  Cores();
  ~Cores();
  Cores(const Cores&) = delete;
  Cores& operator=(const Cores&) = delete;

  // Numbers of cores: 0 .. count() - 1, those with a whole core to themselves before second threads of a
  // core.
  int count() const;

  // Binds the calling thread. Throws Error(device) if the system refuses.
  void bind(int core) const;

  // The same where binding only matters for speed: if the system refuses, nothing changes.
  void try_to_bind(int core) const noexcept;
  // The same, until the returned object is destroyed.
  std::unique_ptr<device::ThreadPlace> bind_for_now(int core) const;
  // Lets the calling thread run on all cores again.
  void unbind() const noexcept;

 private:
  struct Topology;
  const std::shared_ptr<Topology> topology_;
};

}  // namespace lockstep::cpu
