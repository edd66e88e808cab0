#include "bench_peak_text.h"

#include <fmt/format.h>

#include "units.h"

namespace lockstep::app {

std::string peak_lines(const measure::PeakFigure& peak) {
  std::string text = fmt::format("FMA peak of one core: {:.1f} GFLOP/s (best window; median {:.1f})\n",
                                 peak.best / kGiga, peak.median / kGiga);
  if (peak.busy()) {
    text += fmt::format(
        "The machine was busy: the slowest quarter of the peak's windows was {:.0f} % or more below the best "
        "(limit: {:.0f} %).\nShares of the peak are left out; times are those of a busy machine.\n",
        100 * peak.apart(), 100 * measure::PeakFigure::kMostApart);
  }
  return text;
}

}  // namespace lockstep::app
