// Which packs share the statistics of a batch norm.
#pragma once

namespace lockstep::program {

// So many consecutive ones of the minibatch; 0: all.
struct PackGroups {
  int packs = 0;
  int of(int pack) const { return packs == 0 ? 0 : pack / packs; }
  int count(int all) const { return packs == 0 ? 1 : (all + packs - 1) / packs; }
  bool operator==(const PackGroups&) const = default;
};

}  // namespace lockstep::program
