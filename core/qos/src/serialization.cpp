#include "llamada/qos/serialization.hpp"

#include <charconv>
#include <concepts>
#include <map>
#include <optional>
#include <system_error>

namespace llamada::qos {
namespace {

// One function names all fields, for writing and for reading alike, so that the two cannot disagree.
template <typename Policy, typename Visitor>
void visit_policy(std::string_view before, Policy& policy, Visitor&& visit) {
  each_field(policy, [&]<typename Field>(std::string_view name, Field& field) {
    const bool is_duration = std::same_as<std::remove_const_t<Field>, Duration>;
    visit(fmt::format("{}{}.{}{}", before, element_name(Policy::id), name, is_duration ? "_ns" : ""), field);
  });
}

/// What ranks take of a writer or a reader.
template <typename Qos, typename Visitor>
void visit_entity(std::string_view entity, Qos& qos, Visitor&& visit) {
  const std::string before = fmt::format("{}.", entity);
  each_policy(qos, [&](PolicyId id, auto& policy) {
    if (is_taken_by_ranks(entity, id)) visit_policy(before, policy, visit);
  });
}

template <typename AProfile, typename Visitor>
void visit_tuning(AProfile& profile, Visitor&& visit) {
  for (const TuningVariable& variable : tuning_variables()) {
    auto value = profile.tuning.given(variable.id);
    visit(fmt::format("tuning.{}", variable.name), value);
    if constexpr (!std::is_const_v<AProfile>) {
      if (value) profile.tuning.set(variable.id, *value);
    }
  }
}

template <typename AProfile, typename Visitor>
void visit_profile(AProfile& profile, Visitor&& visit) {
  visit("name", profile.name);
  visit_entity("datawriter_qos", profile.datawriter_qos, visit);
  visit_entity("datareader_qos", profile.datareader_qos, visit);
  visit_policy("domainparticipant_qos.", profile.user_data, visit);
  visit("domainparticipant_qos.entity_name", profile.entity_names.participant);
  visit("datawriter_qos.entity_name", profile.entity_names.writer);
  visit("datareader_qos.entity_name", profile.entity_names.reader);
  visit_tuning(profile, visit);
  visit_policy("", profile.rank_replacement, visit);
}

template <typename Value>
std::string write_value(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return std::string(to_string(value));
  } else {
    return fmt::format("{}", value);
  }
}

std::string write_value(const Duration& value) {
  return value == duration_infinite ? "infinite" : fmt::format("{}", value.count());
}

/// A setting that nobody has set.
constexpr std::string_view not_given = "default";

std::string write_value(const std::optional<std::uint64_t>& value) {
  return value ? fmt::format("{}", *value) : std::string(not_given);
}

std::string write_value(const std::vector<std::byte>& value) {
  std::string digits;
  for (const std::byte each : value) digits += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return digits;
}

bool must_escape(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte < 0x20 || byte == 0x7f || byte == '%';
}

std::string write_value(const std::string& value) {
  std::string text;
  for (char character : value) {
    if (must_escape(character)) {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(character));
    } else {
      text += character;
    }
  }
  return text;
}

template <typename Value>
bool read_value(std::string_view text, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    const auto kind = kind_from_name<Value>(text);
    if (kind) value = *kind;
    return kind.has_value();
  } else {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc{} && end == text.data() + text.size();
  }
}

bool read_value(std::string_view text, Duration& value) {
  if (text == "infinite") {
    value = duration_infinite;
    return true;
  }
  std::int64_t count = 0;
  if (!read_value(text, count)) return false;
  value = Duration(count);
  return true;
}

bool read_value(std::string_view text, bool& value) {
  value = text == "true";
  return value || text == "false";
}

bool read_value(std::string_view text, std::optional<std::uint64_t>& value) {
  value.reset();
  if (text == not_given) return true;
  std::uint64_t number = 0;
  if (!read_value(text, number)) return false;
  value = number;
  return true;
}

bool read_value(std::string_view text, std::vector<std::byte>& value) {
  value.clear();
  for (; !text.empty(); text.remove_prefix(2)) {
    unsigned byte = 0;
    const std::string_view digits = text.substr(0, 2);
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (code != std::errc{} || digits.size() != 2 || end != digits.data() + 2) return false;
    value.push_back(static_cast<std::byte>(byte));
  }
  return true;
}

bool read_value(std::string_view text, std::string& value) {
  value.clear();
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (text[position] != '%') {
      if (must_escape(text[position])) return false;
      value += text[position];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(position + 1, 2);
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (code != std::errc{} || digits.size() != 2 || end != digits.data() + 2) return false;
    value += static_cast<char>(byte);
    position += 2;
  }
  return true;
}

using Lines = std::map<std::string_view, std::string_view>;

/// The text cut at "\n" and "=", the header left out.
Result<Lines> split(std::string_view text) {
  const std::size_t header_size = serialized_profile_header.size();
  if (!text.starts_with(serialized_profile_header) || !text.substr(header_size).starts_with('\n')) {
    return failure(Errc::parse_error, "a serialized profile must begin with the line '{}'",
                   serialized_profile_header);
  }
  text.remove_prefix(header_size + 1);
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t equals = line.find('=');
    if (end == text.npos || equals == line.npos) {
      return failure(Errc::parse_error, "a serialized profile has '{}' where a line 'key=value' must be",
                     line);
    }
    if (!lines.emplace(line.substr(0, equals), line.substr(equals + 1)).second) {
      return failure(Errc::parse_error, "a serialized profile has '{}' twice", line.substr(0, equals));
    }
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Takes each field's line away, so that what is left over belongs to no field.
Status read_fields(Lines& lines, Profile& profile) {
  Status status;
  visit_profile(profile, [&](const std::string& key, auto& value) {
    if (!status) return;
    const auto line = lines.find(key);
    if (line == lines.end()) {
      status = failure(Errc::parse_error, "a serialized profile lacks '{}'", key);
    } else if (!read_value(line->second, value)) {
      status =
          failure(Errc::parse_error, "a serialized profile has the value '{}' for '{}'", line->second, key);
    } else {
      lines.erase(line);
    }
  });
  return status;
}

}  // namespace

std::string serialize(const Profile& profile) {
  std::string text = fmt::format("{}\n", serialized_profile_header);
  visit_profile(profile, [&text](const std::string& key, const auto& value) {
    text += fmt::format("{}={}\n", key, write_value(value));
  });
  return text;
}

Result<Profile> deserialize(std::string_view text) {
  auto lines = split(text);
  if (!lines) return propagate(lines);
  Profile profile;
  if (auto status = read_fields(*lines, profile); !status) return propagate(status);
  if (!lines->empty()) {
    return failure(Errc::parse_error, "a serialized profile has the unknown key '{}'", lines->begin()->first);
  }
  if (auto status = check_consistent(profile); !status) return propagate(status);
  if (auto status = check_enforced(profile); !status) return propagate(status);
  return profile;
}

}  // namespace llamada::qos
