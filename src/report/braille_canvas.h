// A small monochrome picture in text: every character cell holds 2 x 4 dots (Unicode braille).
#pragma once
#include <string>
#include <vector>

namespace lockstep::report {

struct Dot {
  int x = 0, y = 0;  // from the top left
};

// The dots of a straight way without a gap: `from` left out, `to` included.
std::vector<Dot> dots_between(Dot from, Dot to);

class BrailleCanvas {
 public:
  static constexpr int kDotsAcross = 2, kDotsDown = 4;  // of one cell

  // Requires: both positive, in cells.
  BrailleCanvas(int columns, int rows);

  void set(Dot dot);  // a dot outside is ignored

  bool empty(int column, int row) const;
  std::string cell(int column, int row) const;  // UTF-8

 private:
  std::size_t index(int column, int row) const;

  int columns_, rows_;
  std::vector<unsigned char> cells_;  // bit b is braille dot b + 1
};

}  // namespace lockstep::report
