// curve.svg: test accuracy and training loss over the epochs, one self-contained picture. Equal runs give
// equal bytes.
#pragma once
#include <ostream>
#include <span>
#include <string>

#include "train/observer.h"

namespace lockstep::report {

struct SvgOptions {
  std::string title;
  int epochs = 0;  // the run's; the axis ends there even if training ended sooner
};

// Values that are not finite are left out. Requires: options.epochs >= 1.
std::string draw_svg(std::span<const train::EpochReport> epochs, const SvgOptions& options);

// Writes the picture once, when training ends.
class CurveSvg final : public train::Observer {
 public:
  // `path` names `out` in errors. Requires: `out` outlives this.
  CurveSvg(std::ostream& out, std::string path);

  void on_start(const train::RunStart& start) override;
  void on_end(const train::RunEnd& end) override;

 private:
  std::ostream& out_;
  const std::string path_;
  SvgOptions options_;
};

}  // namespace lockstep::report
