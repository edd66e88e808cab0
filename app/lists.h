// Values that people type several of, separated by commas.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "program/exchange/exchange.h"

namespace lockstep::app {

std::vector<std::string_view> split_at_commas(std::string_view text);

template <class Parse>
auto list_of(std::string_view text, Parse parse) {
  std::vector<decltype(parse(text))> values;
  for (const std::string_view part : split_at_commas(text)) values.push_back(parse(part));
  return values;
}

std::vector<const program::exchange::Kind*> all_exchanges();

}  // namespace lockstep::app
