// libFuzzer's harness for the rules of mpirun --inject: what is refused must be answered with a rule that is
// taken, and what is taken must say the same when it is read again.

#include <cstdlib>
#include <string>

#include "llamada/launcher/inject.hpp"

namespace {

bool holds(const std::string& text) {
  using llamada::launcher::parse_inject_rule;
  constexpr std::string_view before = "the nearest legal rule is '";
  const auto rule = parse_inject_rule(text);
  if (rule) return rule->text == text && parse_inject_rule(rule->text) == *rule;
  const std::string sentence = rule.error().text();
  const std::size_t at = sentence.rfind(before);
  if (at == sentence.npos || !sentence.ends_with('\'')) return false;
  const std::size_t begin = at + before.size();
  return parse_inject_rule(sentence.substr(begin, sentence.size() - begin - 1)).has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!holds({reinterpret_cast<const char*>(data), size})) std::abort();
  return 0;
}
