// What numbers were computed from, as terms instead of values: "mean (0+1)". Equal terms have equal numbers,
// so comparing two terms costs nothing.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "program/program.h"

namespace lockstep::program {

using Term = int;
constexpr Term kNothing = -1;  // was never written

class Terms {
 public:
  Term leaf(const std::string& name);  // "0", a pack's sum; "check of 2"
  Term join(Join::Operator op, Term left, Term right);
  Term mean(Term sum);
  Term updated_by(Term gradient);
  // What an instruction makes of one or two terms, by a name of its own.
  Term made(const std::string& name, Term left, Term right = kNothing);
  Term used_up();  // what a join of floats leaves in its inputs

  // The law's sum over the minibatch, by plain recursion over the packs [first, last).
  Term pack_tree(Join::Operator op, int first, int last);

  std::string text(Term term) const;
  // The names of its leaves, from left to right.
  std::vector<std::string> leaves(Term term) const;

 private:
  struct Parts {
    std::string name;  // of a leaf, else what is done with the parts
    int count = 0;     // of parts; 0: a leaf
    Term left = kNothing, right = kNothing;
    auto operator<=>(const Parts&) const = default;
  };
  Term number_of(Parts parts);

  std::map<Parts, Term> numbers_;
  std::vector<Parts> parts_;  // by term
};

}  // namespace lockstep::program
