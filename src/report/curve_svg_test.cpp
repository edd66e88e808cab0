#include "report/curve_svg.h"

#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "base/error.h"
#include "report/epochs_for_test.h"
#include "report/full_disk_for_test.h"

namespace lockstep::report {
namespace {

train::RunStart start_of(const std::string& model, int epochs) {
  train::RunStart start;
  start.model = model;
  start.epochs = epochs;
  return start;
}

std::string svg_of(const train::RunStart& start, const std::vector<train::EpochReport>& epochs) {
  std::ostringstream out;
  CurveSvg svg(out, "curve.svg");
  svg.on_start(start);
  train::RunEnd end;
  end.epochs = epochs;
  svg.on_end(end);
  return out.str();
}

TEST(CurveSvg, DrawsAxesLegendAndBothCurves) {
  EXPECT_EQ(
      svg_of(start_of("lenet", 2), lenet_epochs(2)),
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 440" width="720" height="440" role="img" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif" font-size="13">
<title>lenet: test accuracy 0.628 after 2 epochs</title>
<rect width="720" height="440" fill="#ffffff"/>
<text x="76" y="34" font-size="17" font-weight="bold" fill="#1a1a1a">lenet: test accuracy 0.628 after 2 epochs</text>
<g stroke-width="2.2" fill="#333333">
<line x1="76" y1="57" x2="104" y2="57" stroke="#1f6fb4"/><text x="112" y="61.5">test accuracy</text>
<line x1="228" y1="57" x2="256" y2="57" stroke="#c8630a" stroke-dasharray="6 4"/><text x="264" y="61.5">train loss</text>
</g>
<line x1="76" y1="372.0" x2="644" y2="372.0" stroke="#555555"/>
<text x="67" y="376.5" text-anchor="end" fill="#1f6fb4">0.0</text>
<text x="653" y="376.5" fill="#c8630a">0.0</text>
<line x1="76" y1="314.4" x2="644" y2="314.4" stroke="#e4e4e4"/>
<text x="67" y="318.9" text-anchor="end" fill="#1f6fb4">0.2</text>
<text x="653" y="318.9" fill="#c8630a">0.5</text>
<line x1="76" y1="256.8" x2="644" y2="256.8" stroke="#e4e4e4"/>
<text x="67" y="261.3" text-anchor="end" fill="#1f6fb4">0.4</text>
<text x="653" y="261.3" fill="#c8630a">1.0</text>
<line x1="76" y1="199.2" x2="644" y2="199.2" stroke="#e4e4e4"/>
<text x="67" y="203.7" text-anchor="end" fill="#1f6fb4">0.6</text>
<text x="653" y="203.7" fill="#c8630a">1.5</text>
<line x1="76" y1="141.6" x2="644" y2="141.6" stroke="#e4e4e4"/>
<text x="67" y="146.1" text-anchor="end" fill="#1f6fb4">0.8</text>
<text x="653" y="146.1" fill="#c8630a">2.0</text>
<line x1="76" y1="84.0" x2="644" y2="84.0" stroke="#e4e4e4"/>
<text x="67" y="88.5" text-anchor="end" fill="#1f6fb4">1.0</text>
<text x="653" y="88.5" fill="#c8630a">2.5</text>
<text transform="translate(30 228) rotate(-90)" text-anchor="middle" fill="#1f6fb4">test accuracy</text>
<text transform="translate(696 228) rotate(90)" text-anchor="middle" fill="#c8630a">train loss</text>
<line x1="90.0" y1="372" x2="90.0" y2="377" stroke="#555555"/><text x="90.0" y="393" text-anchor="middle" fill="#333333">1</text>
<line x1="630.0" y1="372" x2="630.0" y2="377" stroke="#555555"/><text x="630.0" y="393" text-anchor="middle" fill="#333333">2</text>
<text x="360" y="418" text-anchor="middle" fill="#333333">epoch</text>
<path d="M90.0 106.7 L630.0 254.5" fill="none" stroke="#c8630a" stroke-width="2.2" stroke-linejoin="round" stroke-dasharray="6 4"/>
<g fill="#c8630a"><circle cx="90.0" cy="106.7" r="3.2"/><circle cx="630.0" cy="254.5" r="3.2"/></g>
<path d="M90.0 343.2 L630.0 191.1" fill="none" stroke="#1f6fb4" stroke-width="2.2" stroke-linejoin="round"/>
<g fill="#1f6fb4"><circle cx="90.0" cy="343.2" r="3.2"/><circle cx="630.0" cy="191.1" r="3.2"/></g>
</svg>
)svg");
}

TEST(CurveSvg, TheTitleIsText) {
  const std::string svg = svg_of(start_of("<a&b>", 1), {});
  EXPECT_NE(svg.find("<title>&lt;a&amp;b&gt;</title>"), std::string::npos);
}

TEST(CurveSvg, ARunThatStoppedEarlyKeepsItsAxis) {
  const std::string svg = svg_of(start_of("lenet", 10), lenet_epochs(3));
  EXPECT_NE(svg.find(">lenet: test accuracy 0.727 after 3 epochs</text>"), std::string::npos);
  EXPECT_NE(svg.find(">10</text>"), std::string::npos);
}

TEST(CurveSvg, WhatIsNotFiniteBreaksTheCurve) {
  std::vector<train::EpochReport> epochs = lenet_epochs(3);
  epochs[1].train_loss = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = draw_svg(epochs, {.title = "lenet", .epochs = 3});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("M90.0 106.7 M630.0 287.9"), std::string::npos);
}

TEST(CurveSvg, AFullDiskIsAnErrorThatNamesTheFile) {
  FullDisk out(500);
  CurveSvg svg(out, "runs/lenet-1/curve.svg");
  svg.on_start(start_of("lenet", 2));
  try {
    svg.on_end({});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::ours);
    EXPECT_NE(std::string(error.what()).find("runs/lenet-1/curve.svg"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::report
