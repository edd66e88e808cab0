// A text file that grows by whole rows: what is written between two flushes arrives completely or, on a full
// disk, not at all. Then the stream is bad and the file ends with the rows before.
#pragma once
#include <filesystem>
#include <ostream>
#include <sstream>

namespace lockstep::app {

class RowFile final : public std::ostream {
 public:
  enum class Begin { new_file, after_existing_rows };

  // Throws Error(ours) naming the path, also for a new file that exists already.
  explicit RowFile(const std::filesystem::path& path, Begin begin = Begin::new_file);
  ~RowFile() override;  // flushes; what fails then is lost

 private:
  class Rows final : public std::stringbuf {
   public:
    Rows(const std::filesystem::path& path, Begin begin);
    ~Rows() override;
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

   private:
    int sync() override;

    const int descriptor_;
    off_t size_ = 0;  // of the rows that arrived
  };

  Rows rows_;
};

}  // namespace lockstep::app
