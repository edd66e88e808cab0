// Text in columns of a terminal. Escape sequences that set colors have no width; every other character has
// one column, which holds for all that reports draw.
#pragma once
#include <string>
#include <string_view>

namespace lockstep::report {

// Of one line without its end.
int columns_of(std::string_view line);

// `text` with a line end in place of the blanks where a word would pass `width`; a longer word stays whole.
// Requires: text without line ends.
std::string wrapped(std::string_view text, int width);

// The lines of `right` beside those of `left`, beginning at column `at`. Each line of the result ends in a
// newline. Requires: no line of `left` is wider than `at`, `right` has no more lines than `left`.
std::string side_by_side(std::string_view left, int at, std::string_view right);

}  // namespace lockstep::report
