// Writes hashes.csv while a training runs.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "report/written.h"
#include "store/hash_record.h"
#include "train/observer.h"

namespace lockstep::runs {

class HashRows final : public train::Observer {
 public:
  // `header`: the file is new.
  HashRows(std::ostream& out, std::string path, std::vector<std::string> tensors, bool header)
      : out_(out), path_(std::move(path)), tensors_(std::move(tensors)), header_(header) {}

  void on_start(const train::RunStart&) override {
    if (header_) write(store::hash_record_header(tensors_));
  }
  void on_step(const train::StepReport& step) override {
    if (!step.hashes.empty()) write(store::hash_record_row(step.global_step, step.hashes));
  }
  void on_epoch(const train::EpochReport&) override { flush(); }
  void on_end(const train::RunEnd&) override { flush(); }

 private:
  void write(const std::string& text) {
    out_ << text;
    report::require_written(out_, path_);
  }
  void flush() {
    out_ << std::flush;
    report::require_written(out_, path_);
  }

  std::ostream& out_;
  const std::string path_;
  const std::vector<std::string> tensors_;
  const bool header_;
};

}  // namespace lockstep::runs
