// Memory for numbers: 64-byte aligned, zero at first, size fixed. Moves, never copies.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace lockstep {

template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size)
      : data_(new(std::align_val_t{kAlignment}) T[padded(size)]()), size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::span<T> span() { return {data_.get(), size_}; }
  std::span<const T> span() const { return {data_.get(), size_}; }

 private:
  static constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector
  static constexpr std::size_t padded(std::size_t n) {
    constexpr std::size_t per_line = kAlignment / sizeof(T);
    return (n + per_line - 1) / per_line * per_line;
  }
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }
  };

  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace lockstep
