#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::sql::detail {

enum class TokenKind : std::uint8_t {
  end,
  name,     ///< A field with its path, an enumerator or a keyword.
  integer,  ///< Decimal or 0x hexadecimal, with or without a sign.
  real,
  text,       ///< Between quotes, which are not part of it; a doubled quote is one.
  parameter,  ///< %0 to %99; `text` has the number.
  symbol,     ///< = <> != < <= > >= ( ) ,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  /// From 1.
  std::size_t column = 1;
};

/// The tokens of an expression; the last is `end`. Errors: parse_error.
Result<std::vector<Token>> tokens_of(std::string_view expression);

/// "'AND'", "the end": for sentences.
std::string quoted(const Token& token);

/// True if the token is this keyword, in any case; `keyword` is in capitals.
bool is_keyword(const Token& token, std::string_view keyword);

}  // namespace llamada::sql::detail
