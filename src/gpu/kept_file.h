// Files that make the next start faster, or an error say more: good to have, and no error where they cannot
// be written. A kept kernel runs on the device, and a device with a kept proof is not tested again, so both
// count only if no other user can have written them.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::gpu {

// Makes the directory where there is none, for this user alone. What keeps it from being used, in a few
// words: "it belongs to another user"; nothing if it may be used.
std::string problem_with(const std::filesystem::path& directory);

// Writes the file, whole or not at all, for this user alone. False if it cannot, or its directory is not to
// be used.
bool try_to_keep(const std::filesystem::path& path, std::string_view text);

// What the file holds. Nothing if it is not there, larger than `most_bytes`, not to be read, or not to be
// trusted: the file and its directory must belong to this user, and no other user may be allowed to write
// them.
std::optional<std::string> kept_text(const std::filesystem::path& path, std::size_t most_bytes);

}  // namespace lockstep::gpu
