#include "lists.h"

namespace lockstep::app {

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(',');
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<const program::exchange::Kind*> all_exchanges() {
  std::vector<const program::exchange::Kind*> all;
  all.reserve(program::exchange::kinds().size());
  for (const program::exchange::Kind& kind : program::exchange::kinds()) all.push_back(&kind);
  return all;
}

}  // namespace lockstep::app
