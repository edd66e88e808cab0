#include "program/terms.h"

#include <fmt/format.h>

namespace lockstep::program {
namespace {

std::string sign_of(Join::Operator op) {
  switch (op) {
    case Join::Operator::add:
    case Join::Operator::mean:
    case Join::Operator::integer_add:
      return "+";
    case Join::Operator::maximum:
      return " max ";
    case Join::Operator::statistics:
      return " with ";
    case Join::Operator::both:
      return " and ";
  }
  return {};
}

}  // namespace

Term Terms::number_of(Parts parts) {
  const auto [found, fresh] = numbers_.try_emplace(std::move(parts), static_cast<Term>(parts_.size()));
  if (fresh) parts_.push_back(found->first);
  return found->second;
}

Term Terms::leaf(const std::string& name) { return number_of({name}); }
Term Terms::join(Join::Operator op, Term left, Term right) {
  return number_of({sign_of(op), 2, left, right});
}
Term Terms::mean(Term sum) { return number_of({"mean", 1, sum}); }
Term Terms::updated_by(Term gradient) { return number_of({"updated by", 1, gradient}); }
Term Terms::made(const std::string& name, Term left, Term right) {
  return number_of({name, right == kNothing ? 1 : 2, left, right});
}
Term Terms::used_up() { return leaf("used up"); }

Term Terms::pack_tree(Join::Operator op, int first, int last) {
  if (last - first == 1) return leaf(std::to_string(first));
  int left = 1;
  while (2 * left < last - first) left *= 2;
  return join(op, pack_tree(op, first, first + left), pack_tree(op, first + left, last));
}

std::string Terms::text(Term term) const {
  if (term == kNothing) return "nothing";
  const Parts& parts = parts_[static_cast<std::size_t>(term)];
  if (parts.count == 0) return parts.name;
  if (parts.count == 1) return fmt::format("{} {}", parts.name, text(parts.left));
  return fmt::format("({}{}{})", text(parts.left), parts.name, text(parts.right));
}

std::vector<std::string> Terms::leaves(Term term) const {
  std::vector<std::string> names;
  std::vector<Term> left{term};
  while (!left.empty()) {
    const Term next = left.back();
    left.pop_back();
    if (next == kNothing) continue;
    const Parts& parts = parts_[static_cast<std::size_t>(next)];
    if (parts.count == 0) names.push_back(parts.name);
    left.push_back(parts.right);
    left.push_back(parts.left);
  }
  return names;
}

}  // namespace lockstep::program
