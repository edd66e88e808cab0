// The instructions of a step that belong to no layer. In brackets: inputs -> outputs.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "arithmetic/update_rule.h"
#include "program/geometry.h"
#include "program/instruction_traits.h"

namespace lockstep::program {

struct Load {  // [] -> [activation, labels]; the examples are an input of the step
  static constexpr InstructionTraits kTraits{"load", Over::packs, WorkKind::rest};
  Shape shape;

  static Signature signature();
  std::string sizes() const { return to_string(shape); }
};

struct Loss {  // [z, labels] -> [losses, sum, counts, dz]; evaluation goes without dz
  static constexpr InstructionTraits kTraits{"loss", Over::packs, WorkKind::rest};
  int classes = 0;

  static Signature signature();
  std::string sizes() const;
};

// Elements [first, first + count) of a tensor.
struct Part {
  std::size_t first = 0, count = 0;
  bool operator==(const Part&) const = default;
};

struct Check {  // [gradient..] -> [verdict]: 1 if these parts of the gradients are finite, else 0
  static constexpr InstructionTraits kTraits{"check", Over::elements, WorkKind::rest};
  std::vector<Part> parts = {};

  Signature signature() const;
  static std::string sizes() { return {}; }
};

struct Update {  // [verdict, parameter, gradient, the rule's states..] -> [parameter, the states..]; nothing
                 // if the verdict is 0
  static constexpr InstructionTraits kTraits{"update", Over::elements, WorkKind::rest};
  arithmetic::UpdateKind rule = arithmetic::UpdateKind::sgd;
  Part part = {};       // of the parameter and its gradient; the states start at Sum::states_first
  bool decays = false;  // weight decay applies to the parameter

  Signature signature() const;
  std::string sizes() const;
};

struct Look {  // [verdict, parameter..] -> [counts]: hashes of the parameters; see run/replicas.h
  static constexpr InstructionTraits kTraits{"look", Over::host, WorkKind::rest};

  static Signature signature(std::size_t parameters);  // of the program
  static std::string sizes() { return {}; }
};

}  // namespace lockstep::program
