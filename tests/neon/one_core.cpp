// The cores of a machine without hwloc: one, to which no thread is bound.
#include "cpu/cores.h"

namespace lockstep::cpu {

struct Cores::Topology {};

int usable_cores() { return 1; }
int threads_of_each(int, int wanted) { return wanted > 0 ? wanted : 1; }
bool share_cores(int devices, int threads) { return devices * threads > 1; }

Cores::Cores() = default;
Cores::~Cores() = default;
int Cores::count() const { return 1; }
void Cores::bind(int) const {}
void Cores::try_to_bind(int) const noexcept {}
std::unique_ptr<device::ThreadPlace> Cores::bind_for_now(int) const { return nullptr; }
void Cores::unbind() const noexcept {}

}  // namespace lockstep::cpu
