// metrics.jsonl: one JSON object per line, one per step and one per epoch. A step's object has "step"; an
// epoch's has "test_accuracy". Numbers are the shortest that read back exactly; what is not finite is null.
#pragma once
#include <ostream>
#include <string>

#include "train/observer.h"

namespace lockstep::report {

class MetricsJsonl final : public train::Observer {
 public:
  // `path` names `out` in errors. Requires: `out` outlives this.
  MetricsJsonl(std::ostream& out, std::string path);

  void on_step(const train::StepReport& step) override;
  void on_epoch(const train::EpochReport& epoch) override;  // flushes
  void on_end(const train::RunEnd& end) override;           // flushes

 private:
  std::ostream& out_;
  const std::string path_;
};

}  // namespace lockstep::report
