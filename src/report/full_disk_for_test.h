// A stream that takes a given number of bytes and then refuses, as a full disk does.
#pragma once
#include <ostream>
#include <streambuf>

namespace lockstep::report {

class FullDisk final : public std::ostream {
 public:
  explicit FullDisk(int capacity) : std::ostream(nullptr), disk_(capacity) { rdbuf(&disk_); }

 private:
  class Disk final : public std::streambuf {
   public:
    explicit Disk(int capacity) : left_(capacity) {}

   private:
    int_type overflow(int_type byte) override { return left_-- > 0 ? byte : traits_type::eof(); }

    int left_;
  };

  Disk disk_;
};

}  // namespace lockstep::report
