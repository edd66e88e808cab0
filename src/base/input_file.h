// A file that is open for reading. Regular files are opened, and standard input by whatever name
// (/dev/stdin). All else is refused and never waited for: a device such as /dev/zero has no end, and a FIFO
// begins only when another program writes.
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/byte_source.h"
#include "base/error.h"

namespace lockstep {

// The system did not hand out a file's bytes, so it is not known whether they are whole: what catches this
// must not treat the file as damaged. Fault::device where the host is short of descriptors or memory or its
// disk fails, else Fault::data.
class CannotRead : public Error {
 public:
  // `attempt` follows "cannot"; `error` is the value of errno.
  CannotRead(std::string_view file, std::string_view attempt, int error);
};

class InputFile final : public ByteSource {
 public:
  // Throws CannotRead, or Error(data) for what is neither a regular file nor standard input.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile() override;

  std::optional<std::size_t> remaining() const override;

 private:
  std::size_t read_some(std::span<std::byte> into) override;

  const int descriptor_;
  std::optional<std::size_t> size_;
};

}  // namespace lockstep
