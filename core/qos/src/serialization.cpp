#include "llamada/qos/serialization.hpp"

#include <charconv>
#include <map>
#include <system_error>

namespace llamada::qos {
namespace {

// One function names all fields, for writing and for reading alike, so that the two cannot disagree.
template <typename Qos, typename Visitor>
void visit_entity(const std::string& entity, Qos& qos, Visitor&& visit) {
  visit(entity + ".reliability.kind", qos.reliability.kind);
  visit(entity + ".reliability.max_blocking_time_ns", qos.reliability.max_blocking_time);
  visit(entity + ".durability.kind", qos.durability.kind);
  visit(entity + ".history.kind", qos.history.kind);
  visit(entity + ".history.depth", qos.history.depth);
  visit(entity + ".resource_limits.max_samples", qos.resource_limits.max_samples);
  visit(entity + ".resource_limits.max_instances", qos.resource_limits.max_instances);
  visit(entity + ".resource_limits.max_samples_per_instance", qos.resource_limits.max_samples_per_instance);
  visit(entity + ".liveliness.kind", qos.liveliness.kind);
  visit(entity + ".liveliness.lease_duration_ns", qos.liveliness.lease_duration);
}

template <typename AProfile, typename Visitor>
void visit_profile(AProfile& profile, Visitor&& visit) {
  visit("name", profile.name);
  visit_entity("datawriter_qos", profile.datawriter_qos, visit);
  visit_entity("datareader_qos", profile.datareader_qos, visit);
  visit("rank_replacement.kind", profile.rank_replacement.kind);
  visit("rank_replacement.max_replacements_per_rank", profile.rank_replacement.max_replacements_per_rank);
  visit("rank_replacement.max_replacements_per_job", profile.rank_replacement.max_replacements_per_job);
  visit("rank_replacement.log_bytes_per_node", profile.rank_replacement.log_bytes_per_node);
  visit("rank_replacement.log_bytes_at_start", profile.rank_replacement.log_bytes_at_start);
  visit("rank_replacement.on_unprotected", profile.rank_replacement.on_unprotected);
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
