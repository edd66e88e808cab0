// The transforms of fast convolution as the law states them, on a line of numbers and on a plane.
// Frequencies stand in the order 0, +p_1, -p_1, +p_2, -p_2, .., and infinity if their number is even.
#pragma once
#include <cstddef>
#include <vector>

namespace lockstep::reference {

using Line = std::vector<float>;
using Plane = std::vector<Line>;  // [y][x]

// What belongs to a pair of points +p and -p.
struct PointPair {
  Line power;         // p^k
  Line q;             // Q_ik, coefficients of Q_i in rising order
  Line pq;            // p Q_ik
  float scale;        // s_i
  Line scaled_power;  // s_i p^k
};

struct ToomCook {
  int tile, kernel;              // outputs and weights of a line
  std::vector<PointPair> pairs;  // in the law's order
  Line z;                        // coefficients of Z in rising order
  float scale;                   // s_0

  ToomCook(int outputs, int weights);
  std::size_t frequencies() const { return static_cast<std::size_t>(tile + kernel - 1); }
  bool infinity() const { return frequencies() % 2 == 0; }

  // To frequencies.
  Line of_output_gradient(const Line& dy) const;  // A
  Line of_weights(const Line& w) const;           // G
  Line of_input(const Line& d) const;             // Bt

  // Back from frequencies: the transposed transforms.
  Line output(const Line& f) const;           // At
  Line weight_gradient(const Line& f) const;  // Gt
  Line input_gradient(const Line& f) const;   // B

  // Over y for every column, then over x.
  using Transform = Line (ToomCook::*)(const Line&) const;
  Plane in_two_dimensions(Transform transform, const Plane& plane) const;
};

}  // namespace lockstep::reference
