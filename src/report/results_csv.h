// results.csv: one row per epoch, complete on disk when the epoch is.
#pragma once
#include <ostream>
#include <string>

#include "train/observer.h"

namespace lockstep::report {

class ResultsCsv final : public train::Observer {
 public:
  enum class Begin { with_header, after_existing_rows };  // the second for a run that is taken up again

  // `path` names `out` in errors. Requires: `out` outlives this.
  ResultsCsv(std::ostream& out, std::string path, Begin begin = Begin::with_header);

  void on_start(const train::RunStart& start) override;
  void on_epoch(const train::EpochReport& epoch) override;

 private:
  std::ostream& out_;
  const std::string path_;
  const Begin begin_;
};

}  // namespace lockstep::report
