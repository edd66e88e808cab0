#include "report/braille_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace lockstep::report {

std::vector<Dot> dots_between(Dot from, Dot to) {
  const int steps = std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
  std::vector<Dot> dots;
  for (int i = 1; i <= steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    dots.push_back({static_cast<int>(std::lround(from.x + share * (to.x - from.x))),
                    static_cast<int>(std::lround(from.y + share * (to.y - from.y)))});
  }
  return dots;
}

BrailleCanvas::BrailleCanvas(int columns, int rows)
    : columns_(columns),
      rows_(rows),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

void BrailleCanvas::set(Dot dot) {
  if (dot.x < 0 || dot.y < 0 || dot.x >= columns_ * kDotsAcross || dot.y >= rows_ * kDotsDown) return;
  // Braille numbers its dots down the left column, down the right, and then the bottom pair.
  constexpr unsigned char kBits[kDotsDown][kDotsAcross] = {
      {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  cells_[index(dot.x / kDotsAcross, dot.y / kDotsDown)] |= kBits[dot.y % kDotsDown][dot.x % kDotsAcross];
}

bool BrailleCanvas::empty(int column, int row) const { return cells_[index(column, row)] == 0; }

std::string BrailleCanvas::cell(int column, int row) const {
  const unsigned code = 0x2800u + cells_[index(column, row)];
  return {static_cast<char>(0xE0u | (code >> 12)), static_cast<char>(0x80u | ((code >> 6) & 0x3Fu)),
          static_cast<char>(0x80u | (code & 0x3Fu))};
}

std::size_t BrailleCanvas::index(int column, int row) const {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
         static_cast<std::size_t>(column);
}

}  // namespace lockstep::report
