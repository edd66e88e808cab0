// Splits PTX into tokens.
#include "ptx/lexer.h"

#include <cctype>

#include "problem.h"

namespace standin::ptx {
namespace {

bool belongs_to_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (skip_blank()) {
      const std::size_t begin = at_;
      const int line = line_;
      if (belongs_to_word(text_[at_])) {
        while (at_ < text_.size() && belongs_to_word(text_[at_])) ++at_;
        // "ld.shared::cta" and "mbarrier::" carry a double colon inside a word
        while (text_.substr(at_, 2) == "::") {
          at_ += 2;
          while (at_ < text_.size() && belongs_to_word(text_[at_])) ++at_;
        }
        push(Token::Kind::word, begin, line);
      } else if (text_[at_] == '"') {
        const std::size_t close = text_.find('"', at_ + 1);
        if (close == text_.npos) throw Problem(Code::invalid_ptx, "ptx line {}: a string has no end", line);
        at_ = close + 1;
        push(Token::Kind::string, begin, line);
      } else if (std::string_view(",;:{}[]()<>+-=@!|").find(text_[at_]) != std::string_view::npos) {
        ++at_;
        push(Token::Kind::mark, begin, line);
      } else {
        throw Problem(Code::invalid_ptx, "ptx line {}: unexpected character '{}'", line, text_[at_]);
      }
    }
    tokens_.push_back({Token::Kind::end, {}, line_});
    return std::move(tokens_);
  }

 private:
  void push(Token::Kind kind, std::size_t begin, int line) {
    tokens_.push_back({kind, text_.substr(begin, at_ - begin), line});
  }

  // Skips white space and comments; false at the end of the text.
  bool skip_blank() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        at_ = text_.find('\n', at_);
        if (at_ == text_.npos) at_ = text_.size();
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t close = text_.find("*/", at_ + 2);
        if (close == text_.npos) throw Problem(Code::invalid_ptx, "ptx line {}: a comment has no end", line_);
        for (; at_ < close + 2; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        line_ += text_[at_] == '\n' ? 1 : 0;
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view text) { return Lexer(text).run(); }

}  // namespace standin::ptx
