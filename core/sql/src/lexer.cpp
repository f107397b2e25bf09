#include "lexer.hpp"

#include <algorithm>
#include <array>

#include "llamada/sql/filter.hpp"

namespace llamada::sql::detail {

namespace {

bool is_digit(char each) { return each >= '0' && each <= '9'; }
bool is_letter(char each) { return (each | 0x20) >= 'a' && (each | 0x20) <= 'z'; }
bool begins_name(char each) { return is_letter(each) || each == '_'; }
bool is_in_name(char each) {
  return begins_name(each) || is_digit(each) || each == '.' || each == '[' || each == ']';
}
bool is_in_number(char each) { return is_letter(each) || is_digit(each) || each == '.'; }
bool is_space(char each) { return each == ' ' || each == '\t' || each == '\n' || each == '\r'; }

/// Characters of others as they may be printed.
std::string printable(char each) {
  const auto code = static_cast<unsigned char>(each);
  return code >= 0x20 && code < 0x7f ? std::string(1, each) : fmt::format("\\x{:02x}", code);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    while (skip_space()) {
      auto token = next();
      if (!token) return propagate(token);
      tokens.push_back(std::move(*token));
    }
    tokens.push_back({TokenKind::end, "", text_.size() + 1});
    return tokens;
  }

 private:
  bool skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) at_++;
    return at_ < text_.size();
  }

  char ahead(std::size_t distance) const {
    return at_ + distance < text_.size() ? text_[at_ + distance] : '\0';
  }

  Result<Token> next() {
    const char first = ahead(0);
    if (begins_name(first)) return taken(TokenKind::name, length_while(0, is_in_name));
    if (first == '\'' || first == '`') return text();
    if (first == '%') return parameter();
    const bool is_signed = first == '-' || first == '+';
    if (is_digit(ahead(is_signed ? 1 : 0)) || (first == '.' && is_digit(ahead(1)))) return number();
    return symbol();
  }

  template <typename Predicate>
  std::size_t length_while(std::size_t from, Predicate predicate) const {
    std::size_t length = from;
    while (at_ + length < text_.size() && predicate(text_[at_ + length])) length++;
    return length;
  }

  Token taken(TokenKind kind, std::size_t length) {
    Token token{kind, std::string(text_.substr(at_, length)), at_ + 1};
    at_ += length;
    return token;
  }

  /// A quote within a string is written twice.
  Result<Token> text() {
    Token token{TokenKind::text, "", at_ + 1};
    std::size_t begin = at_ + 1;
    while (true) {
      const std::size_t end = text_.find('\'', begin);
      if (end == std::string_view::npos)
        return failure(Errc::parse_error, "column {}: the string that begins here has no closing quote",
                       token.column);
      token.text += text_.substr(begin, end - begin);
      at_ = end + 1;
      if (ahead(0) != '\'') return token;
      token.text += '\'';
      begin = at_ + 1;
    }
  }

  Result<Token> parameter() {
    const std::size_t length = length_while(1, is_digit);
    if (length < 2 || length > 3)
      return failure(Errc::parse_error, "column {}: a parameter is %0 to %99", at_ + 1);
    Token token = taken(TokenKind::parameter, length);
    token.text.erase(0, 1);
    return token;
  }

  /// Takes everything that could belong to a number; whether it is one shows when it is converted.
  Result<Token> number() {
    std::size_t length = length_while(1, is_in_number);
    const bool is_hexadecimal = text_.substr(at_, length).find_first_of("xX") != std::string_view::npos;
    const char last = ahead(length - 1);
    if (!is_hexadecimal && (last == 'e' || last == 'E') && (ahead(length) == '-' || ahead(length) == '+'))
      length = length_while(length + 1, is_digit);
    const auto digits = text_.substr(at_, length);
    const bool is_real = !is_hexadecimal && digits.find_first_of(".eE") != std::string_view::npos;
    return taken(is_real ? TokenKind::real : TokenKind::integer, length);
  }

  Result<Token> symbol() {
    static constexpr std::array<std::string_view, 10> symbols{"<>", "!=", "<=", ">=", "=",
                                                              "<",  ">",  "(",  ")",  ","};
    for (const std::string_view each : symbols) {
      if (text_.substr(at_).starts_with(each)) return taken(TokenKind::symbol, each.size());
    }
    return failure(Errc::parse_error, "column {}: '{}' belongs to no expression", at_ + 1,
                   printable(ahead(0)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view expression) {
  if (expression.size() > expression_bytes_max)
    return failure(Errc::parse_error, "an expression of {} bytes where at most {} are allowed",
                   expression.size(), expression_bytes_max);
  return Lexer(expression).run();
}

std::string quoted(const Token& token) {
  if (token.kind == TokenKind::end) return "the end";
  std::string text = token.kind == TokenKind::parameter ? "%" : "";
  for (const char each : token.text) text += printable(each);
  return "'" + text + "'";
}

bool is_keyword(const Token& token, std::string_view keyword) {
  const auto same = [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 0x20 : a) == b; };
  return token.kind == TokenKind::name &&
         std::equal(token.text.begin(), token.text.end(), keyword.begin(), keyword.end(), same);
}

}  // namespace llamada::sql::detail
