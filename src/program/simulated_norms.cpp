// Batch norm on terms: what stands in the tables of its statistics, and which rows packs read.
#include <string>

#include "program/simulation.h"
#include "program/statistics_rows.h"

namespace lockstep::program {

struct Simulation::Norms {
  Simulation& simulation;
  std::size_t rank;
  const Segment& segment;
  const Instruction& instruction;
  std::vector<StatisticsRows> tables = statistics_rows(instruction);

  Terms& terms() const { return simulation.terms_; }
  Term read(const StatisticsRows& table, int row) const {
    return simulation.at(rank, {table.buffer, static_cast<std::size_t>(row) * table.row, table.row}).front();
  }
  void write(const StatisticsRows& table, int row, Term term) const {
    for (Term* const place :
         simulation.places(rank, {table.buffer, static_cast<std::size_t>(row) * table.row, table.row}))
      *place = term;
  }

  void write_packs(const StatisticsRows& table) const {
    for (int pack = segment.packs.first; pack < segment.packs.last; ++pack)
      write(table, pack, terms().leaf(std::to_string(pack)));
  }
  void read_groups(const PackGroups& groups, const StatisticsRows& table) const {
    for (int pack = segment.packs.first; pack < segment.packs.last; ++pack) {
      const int group = groups.of(pack);
      simulation.statistics_read_.insert({groups.packs, group, read(table, group)});
    }
  }

  template <class Other>
  void operator()(const Other&) const {}
  void operator()(const NormStatistics&) const { write_packs(tables[0]); }
  void operator()(const NormCoefficients& n) const {
    for (int g = n.first; g < n.last; ++g)
      write(tables[1], g, terms().made("coefficients of", read(tables[0], g)));
  }
  void operator()(const RunningCoefficients&) const {
    write(tables[0], 0, terms().leaf("running coefficients"));
  }
  void operator()(const NormForward& n) const { read_groups(n.groups, tables[0]); }
  void operator()(const NormSums& n) const {
    read_groups(n.groups, tables[0]);
    write_packs(tables[1]);
  }
  void operator()(const NormFactors& n) const {
    for (int g = n.first; g < n.last; ++g) {
      const Term of = terms().made(", ", read(tables[0], g), read(tables[1], g));
      write(tables[3], g, terms().made(" factors ", of, read(tables[2], g)));
    }
  }
  void operator()(const NormInputGradient& n) const {
    read_groups(n.groups, tables[0]);
    read_groups(n.groups, tables[1]);
  }
  void operator()(const NormRunning& n) const {
    Term running = terms().leaf("running");
    for (int g = 0; g < n.groups; ++g) running = terms().made(" then ", running, read(tables[0], g));
    for (const BufferId output : instruction.outputs) {
      for (Term* const place : simulation.whole(rank, output)) *place = running;
    }
  }
};

void Simulation::norm(std::size_t rank, const Segment& segment, const Instruction& instruction) {
  std::visit(Norms{*this, rank, segment, instruction}, instruction.operation);
}

}  // namespace lockstep::program
