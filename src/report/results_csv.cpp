#include "report/results_csv.h"

#include <utility>

#include <fmt/core.h>

#include "report/written.h"

namespace lockstep::report {

ResultsCsv::ResultsCsv(std::ostream& out, std::string path, Begin begin)
    : out_(out), path_(std::move(path)), begin_(begin) {}

void ResultsCsv::on_start(const train::RunStart&) {
  if (begin_ == Begin::after_existing_rows) return;
  out_ << "epoch,train_loss,test_loss,test_accuracy,test_correct,test_examples,seconds,evaluation_seconds\n"
       << std::flush;
  require_written(out_, path_);
}

// `{}` prints the shortest decimal that reads back to the same bits.
void ResultsCsv::on_epoch(const train::EpochReport& epoch) {
  out_ << fmt::format("{},{},{},{},{},{},{},{}\n", epoch.epoch, epoch.train_loss, epoch.test_loss,
                      epoch.test_accuracy(), epoch.test_correct, epoch.test_examples, epoch.seconds,
                      epoch.evaluation_seconds)
       << std::flush;
  require_written(out_, path_);
}

}  // namespace lockstep::report
