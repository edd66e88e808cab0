// A text file that grows by whole rows: what is written between two flushes arrives completely or, on a full
// disk, not at all. Then the stream is bad and the file ends with the rows before. What was made safe is also
// there after a loss of power.
#pragma once
#include <filesystem>
#include <ostream>
#include <sstream>

namespace lockstep::runs {

class RowFile final : public std::ostream {
 public:
  enum class Begin { new_file, after_existing_rows };

  // Throws Error(ours) naming the path, also for a new file that exists already and for rows that are in no
  // regular file.
  explicit RowFile(const std::filesystem::path& path, Begin begin = Begin::new_file);
  ~RowFile() override;  // flushes; what fails then is lost

  // Flushes, and lets the system begin to write to the disk. Called for several files before make_safe() of
  // the first, this costs one wait for the disk instead of one for each file. Throws Error(ours).
  void start_writing();

  // Flushes, and returns when the rows so far and the file's name are on the disk. Throws Error(ours).
  void make_safe();

 private:
  class Rows final : public std::stringbuf {
   public:
    Rows(const std::filesystem::path& path, Begin begin);
    ~Rows() override;
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    void start_writing() const;
    int sync_to_disk() const;  // 0, or the system's error

   private:
    int sync() override;

    const int descriptor_;
    off_t size_ = 0;  // of the rows that arrived
  };

  const std::filesystem::path path_;
  Rows rows_;
  bool name_is_safe_;  // a file that was there has been named before
};

}  // namespace lockstep::runs
