#include "qos.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "json_text.hpp"
#include "llamada/qos_xml/profile_file.hpp"
#include "qos_words.hpp"

namespace llamada::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using namespace llamada::qos;

/// Where the profiles that come with Llamada lie, seen from this program.
std::vector<fs::path> profile_directories() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return {self.parent_path().parent_path() / "share/llamada/qos-profiles"};
}

struct Opened {
  fs::path file;
  QosProvider provider;
  std::optional<std::string> profile;  ///< Named behind the file.
};

Result<Opened> open_file(const std::string& file) {
  const auto directories = profile_directories();
  auto reference = find_profile_file(file, directories);
  if (!reference) return propagate(reference);
  auto provider = QosProvider::load(std::array{reference->path}, directories);
  if (!provider) return propagate(provider);
  return Opened{reference->path, std::move(*provider), reference->name};
}

int print_error(const Error& error, int code) {
  fmt::print(stderr, "llamada: {}\n", error.text());
  return code;
}

ordered_json value_of(std::int32_t value) { return value; }
ordered_json value_of(std::uint32_t value) { return value; }
ordered_json value_of(std::uint64_t value) { return value; }
ordered_json value_of(bool value) { return value; }
ordered_json value_of(const Duration& value) {
  return value == duration_infinite ? ordered_json("infinite") : ordered_json(value.count());
}
ordered_json value_of(const std::string& value) { return value; }
ordered_json value_of(const std::vector<std::string>& value) { return value; }
ordered_json value_of(const std::vector<std::byte>& value) {
  std::string digits;
  for (std::byte each : value) digits += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return digits;
}
template <typename Kind>
requires std::is_enum_v<Kind> ordered_json value_of(Kind value) { return to_string(value); }

/// Calls visit(policy element, field, field's value, origin or null) for all values of an entity, or of a
/// policy.
template <typename Policy, typename Visitor>
void each_value(const Policy& policy, const std::string& prefix, const Origins& origins, Visitor&& visit) {
  const std::string_view element = element_name(Policy::id);
  each_field(policy, [&](std::string_view field, const auto& value) {
    const auto origin = origins.find(fmt::format("{}{}.{}", prefix, element, field));
    visit(element, field, value, origin == origins.end() ? nullptr : &origin->second);
  });
}

template <typename Visitor>
void each_value(const ResolvedQos& qos, Visitor&& visit) {
  each_entity(qos, [&](std::string_view entity, const auto& policies) {
    each_policy(policies, [&](PolicyId, const auto& policy) {
      each_value(policy, fmt::format("{}.", entity), qos.origins,
                 [&](std::string_view element, std::string_view field, const auto& value,
                     const Origin* origin) { visit(entity, element, field, value, origin); });
    });
  });
  each_value(qos.rank_replacement, "", qos.origins,
             [&](std::string_view element, std::string_view field, const auto& value, const Origin* origin) {
               visit(std::string_view("qos_profile"), element, field, value, origin);
             });
}

/// The ends of one profile, or why they do not match.
std::vector<std::string> reasons_against(const ResolvedQos& writer, const ResolvedQos& reader) {
  std::vector<std::string> reasons;
  const auto found = with_names(incompatibilities(writer.datawriter_qos, writer.publisher_qos,
                                                  reader.datareader_qos, reader.subscriber_qos),
                                writer.name, reader.name);
  for (const Incompatibility& each : found)
    reasons.push_back(fmt::format("{}: {}", to_string(each.policy), each.reason));
  if (!partitions_match(writer.publisher_qos.partition, reader.subscriber_qos.partition)) {
    reasons.push_back(fmt::format(
        "PARTITION: reader '{}' is in {}, writer '{}' in {}; they have none in common", reader.name,
        to_string(reader.subscriber_qos.partition), writer.name, to_string(writer.publisher_qos.partition)));
  }
  return reasons;
}

Status accepted_by_ranks(const ResolvedQos& qos) {
  auto profile = profile_for_ranks(qos);
  if (!profile) return propagate(profile);
  return check_for_ranks(*profile);
}

ordered_json to_json(const Words& words) { return {{"survives", words.survives}, {"costs", words.costs}}; }

const Origin* origin_of(const ResolvedQos& qos, const TuningVariable& variable) {
  const auto origin = qos.origins.find(fmt::format("tuning.{}", variable.name));
  return origin == qos.origins.end() ? nullptr : &origin->second;
}

ordered_json setting_to_json(const ResolvedQos& qos, const TuningVariable& variable) {
  const Origin* origin = origin_of(qos, variable);
  ordered_json out{{"value", qos.tuning.value(variable.id)},
                   {"default", origin == nullptr},
                   {"least", variable.least},
                   {"most", variable.most}};
  if (origin != nullptr) out.update({{"file", origin->file}, {"line", origin->line}});
  return out;
}

void print_check_as_json(const ResolvedQos& qos, const Opened& opened, const QosRequest& request) {
  ordered_json out{{"profile", qos.name}, {"file", opened.file.string()}};
  if (request.topic) out["topic"] = *request.topic;
  each_value(qos, [&out](std::string_view entity, std::string_view policy, std::string_view field,
                         const auto& value, const Origin* origin) {
    ordered_json& at = out["qos"][std::string(entity)][std::string(policy)][std::string(field)];
    at = {{"value", value_of(value)}, {"default", origin == nullptr}};
    if (origin != nullptr) at.update({{"file", origin->file}, {"line", origin->line}});
  });
  for (const TuningVariable& variable : tuning_variables())
    out["settings"][variable.name] = setting_to_json(qos, variable);
  out["warnings"] = qos.warnings;
  const auto reasons = reasons_against(qos, qos);
  out["topics"] = to_json(words_for_topics(qos));
  out["topics"]["accepted"] = true;
  out["topics"]["match"] = reasons.empty();
  out["topics"]["reasons"] = reasons;
  const auto accepted = accepted_by_ranks(qos);
  out["ranks"] = accepted ? to_json(words_for_ranks(qos)) : ordered_json{{"reason", accepted.error().text()}};
  out["ranks"]["accepted"] = accepted.has_value();
  fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void print_sentences(std::string_view title, const std::vector<std::string>& sentences) {
  fmt::print("  {}\n", title);
  for (const std::string& each : sentences) fmt::print("    - {}\n", each);
}

void print_words(const Words& words) {
  print_sentences("survives", words.survives);
  print_sentences("costs", words.costs);
}

std::string place_to_string(const Origin* origin) {
  return origin == nullptr ? "default" : fmt::format("{}:{}", origin->file, origin->line);
}

void print_settings(const ResolvedQos& qos) {
  fmt::print("\nsettings of a job of ranks (property, mpirun --set, MPI_T)\n");
  for (const TuningVariable& variable : tuning_variables())
    fmt::print("  {:<58} {:<24} {}\n", variable.name,
               tuning_value_to_string(variable, qos.tuning.value(variable.id)),
               place_to_string(origin_of(qos, variable)));
}

void print_check_as_text(const ResolvedQos& qos, const Opened& opened, const QosRequest& request) {
  fmt::print("profile {}  ({})\n", qos.name, opened.file.string());
  if (request.topic) fmt::print("for the topic {}\n", *request.topic);
  std::string_view last_entity;
  std::string_view last_policy;
  each_value(qos, [&](std::string_view entity, std::string_view policy, std::string_view field,
                      const auto& value, const Origin* origin) {
    if (entity != last_entity) fmt::print("\n{}\n", entity);
    const bool is_new = entity != last_entity || policy != last_policy;
    fmt::print("  {:<22} {:<35} {:<24} {}\n", is_new ? policy : "", field, field_to_string(field, value),
               place_to_string(origin));
    last_entity = entity;
    last_policy = policy;
  });
  print_settings(qos);
  if (!qos.warnings.empty()) fmt::print("\n");
  for (const std::string& warning : qos.warnings) fmt::print("warning: {}\n", warning);
  fmt::print("\nAs topics\n");
  print_words(words_for_topics(qos));
  const auto reasons = reasons_against(qos, qos);
  if (!reasons.empty()) print_sentences("a writer and a reader under it do not match", reasons);
  fmt::print("\nAs a job of ranks (mpirun --qos)\n");
  if (auto accepted = accepted_by_ranks(qos); !accepted) {
    fmt::print("  refused: {}\n", accepted.error().text());
  } else {
    print_words(words_for_ranks(qos));
  }
}

}  // namespace

int check_qos(const QosRequest& request) {
  auto opened = open_file(request.file);
  if (!opened) return print_error(opened.error(), 1);
  const auto profile = request.profile ? request.profile : opened->profile;
  auto qos = opened->provider.resolve({.profile = profile, .topic = request.topic});
  if (!qos) return print_error(qos.error(), 1);
  if (request.as_json) {
    print_check_as_json(*qos, *opened, request);
  } else {
    print_check_as_text(*qos, *opened, request);
  }
  return 0;
}

int match_qos(const QosRequest& request) {
  auto opened = open_file(request.file);
  if (!opened) return print_error(opened.error(), 2);
  auto writer = opened->provider.resolve({.profile = request.profile, .topic = request.topic});
  if (!writer) return print_error(writer.error(), 2);
  auto reader = opened->provider.resolve({.profile = request.other, .topic = request.topic});
  if (!reader) return print_error(reader.error(), 2);
  const auto reasons = reasons_against(*writer, *reader);
  if (request.as_json) {
    const ordered_json out{
        {"writer", writer->name}, {"reader", reader->name}, {"match", reasons.empty()}, {"reasons", reasons}};
    fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else if (reasons.empty()) {
    fmt::print("A writer of {} and a reader of {} match.\n", writer->name, reader->name);
  } else {
    fmt::print("A writer of {} and a reader of {} do not match:\n", writer->name, reader->name);
    for (const std::string& reason : reasons) fmt::print("  {}\n", reason);
  }
  return reasons.empty() ? 0 : 1;
}

}  // namespace llamada::tools
