// The curve of a training run as text: test accuracy solid on the left axis, training loss dotted on the
// right, over all epochs the run will have, so that the picture grows from left to right and never rescales
// its epochs.
#pragma once
#include <span>
#include <string>

#include "train/observer.h"

namespace lockstep::report {

struct CurveOptions {
  int epochs = 0;  // the run's, labelled from the start
  int width = 60;  // columns, at least kCurveMinWidth
  bool color = false;
};

constexpr int kCurveMinWidth = 30;
constexpr int kCurveLines = 13;

// kCurveLines lines, each ended by a newline, none wider than options.width. Values that are not finite are
// left out. Requires: options.epochs >= 1.
std::string draw_curve(std::span<const train::EpochReport> epochs, const CurveOptions& options);

}  // namespace lockstep::report
