// Bytes from outside, read from front to back: a file, or memory.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

class ByteSource {
 public:
  // `name` is what errors call it.
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Bytes that follow; nothing where only reading shows it, as for a pipe.
  virtual std::optional<std::size_t> remaining() const = 0;

  // Fills `into`; returns fewer bytes only at the end.
  std::size_t read(std::span<std::byte> into);

  // Throws Error(data) if it is known that fewer than `count` bytes follow. `what` says what was expected.
  void expect(std::size_t count, std::string_view what) const;

  // Fills all of `into`. Throws Error(data) naming the place, what was expected and how much was found.
  void fill(std::span<std::byte> into, std::string_view what);

  std::size_t offset() const { return offset_; }
  const std::string& name() const { return name_; }

 protected:
  // At least one byte of a span that is not empty; 0 only at the end.
  virtual std::size_t read_some(std::span<std::byte> into) = 0;

 private:
  const std::string name_;
  std::size_t offset_ = 0;
};

// Requires: the bytes outlive it.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string_view name)
      : ByteSource(std::string(name)), bytes_(bytes) {}
  std::optional<std::size_t> remaining() const override { return bytes_.size() - offset(); }

 private:
  std::size_t read_some(std::span<std::byte> into) override;

  const std::span<const std::byte> bytes_;
};

}  // namespace lockstep
