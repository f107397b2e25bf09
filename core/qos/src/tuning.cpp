#include "llamada/qos/tuning.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "llamada/base/nearest_word.hpp"
#include "llamada/qos/rank_replacement.hpp"

namespace llamada::qos {
namespace {

/// An eager message takes no more of the log than this part, so that several fit.
constexpr std::uint64_t eager_part_of_log = 8;

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < tuning_table.size(); ++i)
    if (tuning_table[i].id != static_cast<TuningId>(i)) return false;
  return true;
}
static_assert(is_in_order());

std::optional<std::uint64_t> number_of(std::string_view digits, int shift) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

std::optional<std::uint64_t> bytes_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int>, 4> units{
      {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}}};
  const auto& [name, shift] = *std::find_if(units.begin(), units.end(),
                                            [text](const auto& unit) { return text.ends_with(unit.first); });
  text.remove_suffix(name.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  return number_of(text, shift);
}

std::optional<std::uint64_t> truth_of(std::string_view text) {
  if (text == "true" || text == "1") return 1;
  if (text == "false" || text == "0") return 0;
  return std::nullopt;
}

Status check_range(const TuningVariable& variable, std::uint64_t value) {
  if (value >= variable.least && value <= variable.most) return {};
  return failure(Errc::invalid_argument, "{} is {}; legal: {}", variable.name,
                 tuning_value_to_string(variable, value), tuning_range(variable));
}

}  // namespace

Result<const TuningVariable*> find_tuning_variable(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TuningVariable& variable : tuning_table) {
    if (name == variable.name) return &variable;
    names.emplace_back(variable.name);
  }
  return failure(Errc::not_found, "there is no setting '{}'; llamada qos check lists all{}", name,
                 nearest_word_suggestion(name, names));
}

Result<std::uint64_t> parse_tuning_value(const TuningVariable& variable, std::string_view text) {
  const auto value = variable.unit == TuningUnit::bytes       ? bytes_of(text)
                     : variable.unit == TuningUnit::yes_or_no ? truth_of(text)
                                                              : number_of(text, 0);
  if (!value)
    return failure(Errc::invalid_argument, "{} cannot be '{}'; legal: {}", variable.name, text,
                   tuning_range(variable));
  if (auto status = check_range(variable, *value); !status) return propagate(status);
  return *value;
}

std::string tuning_value_to_string(const TuningVariable& variable, std::uint64_t value) {
  if (variable.unit == TuningUnit::bytes) return bytes_to_string(value);
  if (variable.unit == TuningUnit::yes_or_no) return value != 0 ? "true" : "false";
  return fmt::format("{}", value);
}

std::string tuning_range(const TuningVariable& variable) {
  if (variable.unit == TuningUnit::yes_or_no) return "true, false";
  if (variable.unit == TuningUnit::count)
    return fmt::format("a whole number from {} to {}", variable.least, variable.most);
  return fmt::format("{} to {}, as bytes or with KiB, MiB or GiB", bytes_to_string(variable.least),
                     bytes_to_string(variable.most));
}

void Tuning::put_over(const Tuning& over) {
  for (const TuningVariable& variable : tuning_table)
    if (const auto value = over.given(variable.id)) set(variable.id, *value);
}

Status set_tuning(Tuning& tuning, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == assignment.npos) return failure(Errc::invalid_argument, "'{}' is not NAME=VALUE", assignment);
  auto variable = find_tuning_variable(assignment.substr(0, equals));
  if (!variable) return propagate(variable);
  auto value = parse_tuning_value(**variable, assignment.substr(equals + 1));
  if (!value) return propagate(value);
  tuning.set((*variable)->id, *value);
  return {};
}

Status check_consistent(const Tuning& tuning) {
  for (const TuningVariable& variable : tuning_table)
    if (const auto value = tuning.given(variable.id))
      if (auto status = check_range(variable, *value); !status) return status;
  const std::uint64_t log_bytes = tuning.value(TuningId::log_bytes_max);
  if (tuning.value(TuningId::eager_bytes_max) <= log_bytes / eager_part_of_log) return {};
  return failure(Errc::invalid_argument,
                 "llamada_eager_bytes_max is {}, which is more than an eighth of llamada_log_bytes_max ({}); "
                 "lower the one or raise the other",
                 bytes_to_string(tuning.value(TuningId::eager_bytes_max)), bytes_to_string(log_bytes));
}

}  // namespace llamada::qos
