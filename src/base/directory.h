// Directories whose names are still there after a loss of power. A name is safe on disk only when the
// directory that holds it has been flushed.
// Every failure is Error(ours) naming the path and the system's reason.
#pragma once
#include <filesystem>

namespace lockstep {

// Flushes the names in `directory`. A file system that cannot do that, or a directory that may be written but
// not read, is passed over.
void sync_directory(const std::filesystem::path& directory);

// The directory that holds the name of `path`.
std::filesystem::path directory_of(const std::filesystem::path& path);

// Makes a directory with a safe name. False if there is something of that name already.
bool make_directory(const std::filesystem::path& path);

// Makes a directory and those above it, as far as they are missing, all with safe names.
void make_directories(const std::filesystem::path& path);

}  // namespace lockstep
