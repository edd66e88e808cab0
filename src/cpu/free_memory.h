// Memory of the host that this process may still take.
#pragma once
#include <cstddef>
#include <filesystem>
#include <limits>

namespace lockstep::cpu {

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// The least of these, in bytes: what the system has available, what the limits of the process's control
// groups leave, and what its limit on address space leaves. What cannot be found out counts as no limit.
// Files of the system are read below `root`.
std::size_t free_memory(const std::filesystem::path& root = "/");

}  // namespace lockstep::cpu
