#include "llamada/qos/fields.hpp"

namespace llamada::qos {

bool is_length(std::string_view field) {
  return field.starts_with("max_") || field == "min" || field == "max";
}

bool is_standby_interval(std::string_view field) { return field == "standby_interval"; }

std::string field_to_string(std::string_view name, std::int32_t field) {
  return is_length(name) ? length_to_string(field) : fmt::format("{}", field);
}

std::string field_to_string(std::string_view, std::uint32_t field) { return fmt::format("{}", field); }

std::string field_to_string(std::string_view, std::uint64_t field) { return bytes_to_string(field); }

std::string field_to_string(std::string_view, bool field) { return field ? "true" : "false"; }

std::string field_to_string(std::string_view name, const Duration& field) {
  return is_standby_interval(name) ? standby_to_string(field) : to_string(field);
}

std::string field_to_string(std::string_view, const std::string& field) {
  return field.empty() ? "empty" : fmt::format("'{}'", field);
}

std::string field_to_string(std::string_view, const std::vector<std::byte>& field) {
  return opaque_to_string(field);
}

std::string field_to_string(std::string_view, const std::vector<std::string>& field) {
  std::string text;
  for (const std::string& each : field) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", each);
  return text.empty() ? "empty" : text;
}

}  // namespace llamada::qos
