#include "evidence/private_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep::evidence {
namespace {

// Folders of the system. A path in one of them names a driver or a library, not a user.
constexpr std::array<std::string_view, 10> kOfTheSystem{"/usr/", "/lib/",  "/lib64/", "/opt/", "/etc/",
                                                        "/dev/", "/proc/", "/sys/",   "/bin/", "/sbin/"};

bool in_a_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) > 0x7e;
}

std::string without_word(const std::string& text, const PrivateWord& word) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(word.word, at)) != std::string::npos;) {
    const std::size_t end = at + word.word.size();
    if ((at > 0 && in_a_word(text[at - 1])) || (end < text.size() && in_a_word(text[end]))) {
      ++at;
      continue;
    }
    result += text.substr(done, at - done) + word.instead;
    at = done = end;
  }
  return result + text.substr(done);
}

// "GFLOP/s" and "and/or" are none.
bool begins_path(std::string_view text, std::size_t at) {
  if (text[at] != '/' || at + 1 == text.size()) return false;
  const char next = text[at + 1];
  if (!in_a_word(next) && next != '.' && next != '-' && next != '[') return false;
  if (at == 0) return true;
  const char before = text[at - 1];
  return !in_a_word(before) && before != '/' && before != ']';
}

std::string without_paths(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (!begins_path(text, at)) {
      result += text[at++];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n\"'`,;()<>|", at), text.size());
    const std::string path = text.substr(at, end - at);
    const bool of_the_system =
        path.find("/../") == std::string::npos &&
        std::ranges::any_of(kOfTheSystem, [&](std::string_view root) { return path.starts_with(root); });
    // what ends a sentence belongs to the sentence
    const std::size_t last = path.find_last_not_of(".:");
    result += of_the_system ? path : "[path]" + path.substr(last + 1);
    at = end;
  }
  return result;
}

}  // namespace

std::string without_private_words(const std::string& text, std::span<const PrivateWord> words) {
  std::string result = without_paths(text);
  for (const PrivateWord& word : words)
    if (!word.word.empty()) result = without_word(result, word);
  return result;
}

}  // namespace lockstep::evidence
