// Evidence is sent to others: what tells who made it is taken out of it.
#pragma once
#include <span>
#include <string>

namespace lockstep::evidence {

// `word`, where it stands by itself, becomes `instead`: {"ann", "USER"}.
struct PrivateWord {
  std::string word, instead;
};

// A text without these words and without any path but those of the system's own folders.
std::string without_private_words(const std::string& text, std::span<const PrivateWord> words);

}  // namespace lockstep::evidence
