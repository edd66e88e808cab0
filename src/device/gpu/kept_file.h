// Files that make the next start faster, or an error say more: good to have, and no error where they cannot
// be written.
#pragma once
#include <filesystem>
#include <string_view>

namespace lockstep::device::gpu {

// Writes the file, whole or not at all, and makes its directory where there is none. False if it cannot.
bool try_to_keep(const std::filesystem::path& path, std::string_view text);

}  // namespace lockstep::device::gpu
