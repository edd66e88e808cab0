#include "program/sums.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "program/simulation.h"

namespace lockstep::program {
namespace {

class SumCheck {
 public:
  explicit SumCheck(std::span<const Program> programs) : programs_(programs), simulation_(programs) {}

  void run() {
    check(simulation_.run(), "the programs wait for each other for ever");
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) check_rank(rank);
    check_reads();
    check_statistics();
    check_verdicts();
    const std::vector<BufferId>& looks = programs_.front().received_looks;
    for (std::size_t rank = 0; rank < looks.size(); ++rank)
      expect(0, looks[rank], terms().leaf(fmt::format("look of {}", rank)));
  }

 private:
  Terms& terms() { return simulation_.terms(); }
  bool trains() const {
    return programs_.front().purpose == Purpose::training || programs_.front().purpose == Purpose::timing;
  }
  bool sums_count() const { return trains() || programs_.front().purpose == Purpose::evaluation; }
  static const Buffer& buffer_of(const Program& program, BufferId id) {
    return program.buffers[static_cast<std::size_t>(id)];
  }

  Term expected(const Sum& sum) {
    const Term tree = terms().pack_tree(sum.op, 0, programs_.front().packs);
    return sum.op == Join::Operator::mean ? terms().mean(tree) : tree;
  }

  void expect(std::size_t rank, BufferId id, Term wanted) {
    const Buffer& buffer = buffer_of(programs_[rank], id);
    for (const Term found : simulation_.at(rank, {id, 0, buffer.elements})) {
      if (found == wanted) continue;
      check(false, "rank {}: {} is {}, expected {}", rank, buffer.name, terms().text(found),
            terms().text(wanted));
    }
  }

  void check_rank(std::size_t rank) {
    const Program& program = programs_[rank];
    for (const Sum& sum : program.sums) {
      if (!sums_count()) break;
      if (sum.parameter >= 0 && trains()) {
        expect(rank, sum.parameter, terms().updated_by(expected(sum)));
      } else {
        expect(rank, sum.gradient, expected(sum));
      }
    }
    if (!sums_count() || program.tally < 0) return;
    for (const Term term : simulation_.at(rank, {program.tally, 0, 1})) check_tally(rank, term);
  }

  void check_tally(std::size_t rank, Term term) {
    std::vector<std::string> found = terms().leaves(term), wanted;
    for (std::size_t from = 0; from < programs_.size(); ++from)
      wanted.push_back(fmt::format("loss of {}", from));
    std::ranges::sort(found);
    std::ranges::sort(wanted);
    check(found == wanted, "rank {}: the tally is {}, expected the counts of every rank once", rank,
          terms().text(term));
  }

  void check_reads() {
    std::vector<Term> wanted;
    for (const Sum& sum : programs_.front().sums) wanted.push_back(expected(sum));
    for (const Term term : simulation_.gradients_read())
      check(std::ranges::find(wanted, term) != wanted.end(),
            "a check or an update reads a gradient that is {}", terms().text(term));
  }

  void check_statistics() {
    const int packs = programs_.front().packs;
    for (const Simulation::StatisticsRead& read : simulation_.statistics_read()) {
      const int size = read.group_packs == 0 ? packs : read.group_packs;
      const int first = read.group * size, last = std::min(first + size, packs);
      const Term triples = terms().pack_tree(Join::Operator::statistics, first, last);
      const Term coefficients = terms().made("coefficients of", triples);
      const Term factors = terms().made(" factors ", terms().made(", ", triples, coefficients),
                                        terms().pack_tree(Join::Operator::add, first, last));
      const bool evaluates = programs_.front().purpose == Purpose::evaluation;
      const bool right = evaluates ? read.term == terms().leaf("running coefficients")
                                   : read.term == coefficients || read.term == factors;
      check(right, "packs of group {} are computed with {}", read.group, terms().text(read.term));
    }
  }

  // Elements of each sum that a rank's checks read, by the checks' name in terms.
  void check_verdicts() {
    std::map<std::string, std::map<BufferId, std::size_t>> checked;
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      for (const Segment& segment : programs_[rank].segments) {
        for (const Instruction& instruction : segment.instructions) {
          const auto* const parts = std::get_if<Check>(&instruction.operation);
          for (std::size_t i = 0; parts != nullptr && i < parts->parts.size(); ++i)
            checked[fmt::format("check of {}", rank)][instruction.inputs[i]] += parts->parts[i].count;
        }
      }
    }
    for (const Term verdict : simulation_.verdicts()) {
      std::map<BufferId, std::size_t> elements;
      for (const std::string& leaf : terms().leaves(verdict)) {
        for (const auto& [gradient, count] : checked[leaf]) elements[gradient] += count;
      }
      for (const Sum& sum : programs_.front().sums)
        check(elements[sum.gradient] >= buffer_of(programs_.front(), sum.gradient).elements,
              "an update was told {}, which is of {} elements of {}", terms().text(verdict),
              elements[sum.gradient], buffer_of(programs_.front(), sum.gradient).name);
    }
  }

  const std::span<const Program> programs_;
  Simulation simulation_;
};

}  // namespace

void check_sums(std::span<const Program> programs) { SumCheck(programs).run(); }

}  // namespace lockstep::program
