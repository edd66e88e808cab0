#include "evidence/collection.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace lockstep::evidence {
namespace {

constexpr double kLeast = 1;  // seconds; a driver's library is not opened in less

Outcome outcome_of(const Ending& ending) {
  if (!ending.in_time) return Outcome::cut;
  if (ending.wrong.empty()) return Outcome::done;
  return ending.fault == Fault::verification ? Outcome::differs : Outcome::failed;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  constexpr std::array<std::string_view, 5> kNames{"done", "differs", "failed", "cut", "left out"};
  return kNames[static_cast<std::size_t>(outcome)];
}

Collection::Collection(Options options) : options_(std::move(options)), start_(options_.now()) {}

const Result& Collection::run(const Part& part) {
  const double begin = options_.now(), left = options_.seconds - (begin - start_), limit = left / 2;
  if (limit < kLeast) {
    leave_out(part, fmt::format("the {:.0f} s for all parts were over", options_.seconds));
    return results_.back();
  }
  if (options_.on_begin) options_.on_begin(part, begin - start_);
  Result result{part.name, part.title, part.compares};
  const Ending ending =
      options_.run(part, limit, [&](std::string row) { result.rows.push_back(std::move(row)); });
  result.seconds = options_.now() - begin;
  result.outcome = outcome_of(ending);
  result.why =
      ending.in_time
          ? ending.wrong
          : fmt::format("after {:.0f} s, half of the time that was left; what it had found by then is kept",
                        limit);
  return add(std::move(result));
}

void Collection::leave_out(const Part& part, const std::string& why) {
  add({part.name, part.title, part.compares, Outcome::left_out, why});
}

const Result& Collection::add(Result result) {
  const Result& added = results_.emplace_back(std::move(result));
  if (options_.on_end) options_.on_end(added);
  return added;
}

}  // namespace lockstep::evidence
