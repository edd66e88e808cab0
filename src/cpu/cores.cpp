#include "cpu/cores.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

#include <hwloc.h>
#include <sched.h>

#include "base/error.h"

namespace lockstep::cpu {
namespace {

// What the cgroup's quota of processor time amounts to, rounded up; without one, no limit.
int cores_of_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::numeric_limits<int>::max();
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

void expect(bool done, std::string_view what) {
  if (!done) throw Error(Fault::device, "cannot {}: {}", what, std::generic_category().message(errno));
}

struct Bitmap {
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  Bitmap() = default;
  ~Bitmap() { hwloc_bitmap_free(set); }
  Bitmap(const Bitmap&) = delete;
  Bitmap& operator=(const Bitmap&) = delete;
};

}  // namespace

struct Cores::Topology {
  hwloc_topology_t handle = nullptr;
  std::vector<hwloc_obj_t> units;  // by number of core

  Topology() {
    expect(hwloc_topology_init(&handle) == 0, "look at the cores");
    hwloc_topology_set_flags(handle, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    const bool loaded = hwloc_topology_load(handle) == 0;
    if (!loaded) hwloc_topology_destroy(handle);
    expect(loaded, "look at the cores");
    for (hwloc_obj_t unit = nullptr;
         (unit = hwloc_get_next_obj_by_type(handle, HWLOC_OBJ_PU, unit)) != nullptr;)
      units.push_back(unit);
    // A processing unit's rank among its core's: first threads of all cores come first.
    std::ranges::stable_sort(units, {}, [](hwloc_obj_t unit) { return unit->sibling_rank; });
  }
  ~Topology() { hwloc_topology_destroy(handle); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
};

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
  const int cores = known ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores, 1, cores_of_quota());
}

int threads_of_each(int devices, int wanted) {
  return wanted > 0 ? wanted : std::max(1, usable_cores() / devices);
}

bool share_cores(int devices, int threads) { return devices * threads > usable_cores(); }

Cores::Cores() : topology_(std::make_shared<Topology>()) {}
Cores::~Cores() = default;

int Cores::count() const { return static_cast<int>(topology_->units.size()); }

void Cores::bind(int core) const {
  const hwloc_obj* const unit = topology_->units.at(static_cast<std::size_t>(core));
  expect(hwloc_set_cpubind(topology_->handle, unit->cpuset, HWLOC_CPUBIND_THREAD) == 0,
         "bind a thread to a core");
}

void Cores::try_to_bind(int core) const noexcept {
  const hwloc_obj* const unit = topology_->units[static_cast<std::size_t>(core)];
  hwloc_set_cpubind(topology_->handle, unit->cpuset, HWLOC_CPUBIND_THREAD);
}

void Cores::unbind() const noexcept {
  hwloc_set_cpubind(topology_->handle, hwloc_topology_get_topology_cpuset(topology_->handle),
                    HWLOC_CPUBIND_THREAD);
}

std::unique_ptr<device::ThreadPlace> Cores::bind_for_now(int core) const {
  struct Before final : device::ThreadPlace {
    explicit Before(std::shared_ptr<Topology> topology) : topology_(std::move(topology)) {
      if (hwloc_get_cpubind(topology_->handle, bitmap_.set, HWLOC_CPUBIND_THREAD) != 0)
        hwloc_bitmap_copy(bitmap_.set, hwloc_topology_get_topology_cpuset(topology_->handle));
    }
    ~Before() override { hwloc_set_cpubind(topology_->handle, bitmap_.set, HWLOC_CPUBIND_THREAD); }

   private:
    const std::shared_ptr<Topology> topology_;
    Bitmap bitmap_;
  };
  auto before = std::make_unique<Before>(topology_);
  try_to_bind(core);
  return before;
}

}  // namespace lockstep::cpu
