#include "llamada/qos_xml/profile_file.hpp"

#include <array>

#include "llamada/qos_xml/qos_provider.hpp"

namespace llamada::qos {
namespace {

/// The name of the first field of the policy that has not its default, as a sentence.
template <typename Policy>
std::string not_enforced(std::string_view entity, const Policy& policy, const Policy& standard,
                         const Origins& origins) {
  std::string place;
  std::string sentence;
  auto compare = [&](std::string_view name, const auto& field, const auto& default_field) {
    if (!sentence.empty() || field == default_field) return;
    const auto origin = origins.find(fmt::format("{}.{}.{}", entity, element_name(Policy::id), name));
    if (origin != origins.end()) place = origin->second.place;
    sentence = fmt::format("{} {} is not enforced for ranks; only the default is accepted: {}", name,
                           field_to_string(name, field), field_to_string(name, default_field));
  };
  each_field(policy, [&]<typename Field>(std::string_view name, const Field& field) {
    each_field(standard, [&]<typename Other>(std::string_view other, const Other& default_field) {
      if constexpr (std::same_as<Field, Other>) {
        if (other == name) compare(name, field, default_field);
      }
    });
  });
  return place + sentence;
}

/// The place of any value of a policy.
std::string place_of(std::string_view entity, PolicyId policy, const Origins& origins) {
  const std::string prefix = fmt::format("{}.{}.", entity, element_name(policy));
  const auto origin = origins.lower_bound(prefix);
  return origin != origins.end() && origin->first.starts_with(prefix) ? origin->second.place : std::string();
}

template <typename Qos>
Status check_entity_for_ranks(std::string_view entity, const Qos& qos, const Origins& origins) {
  Status status;
  each_policy(qos, [&]<typename Policy>(PolicyId id, const Policy& policy) {
    if (!status) return;
    if (is_taken_by_ranks(entity, id)) {
      if constexpr (requires { check_enforced(policy); }) {
        status = check_enforced(policy);
        if (!status)
          status =
              failure(status.error().code(), "{}{}", place_of(entity, id, origins), status.error().text());
      }
    } else if (policy != Policy{}) {
      status = failure(Errc::unsupported, "{}", not_enforced(entity, policy, Policy{}, origins));
    }
  });
  return status;
}

Status check_enforced_with_places(const ResolvedQos& resolved) {
  Status status;
  each_entity(resolved, [&](std::string_view entity, const auto& qos) {
    if (status) status = check_entity_for_ranks(entity, qos, resolved.origins);
  });
  return status;
}

EntityNames names_of(const ResolvedQos& resolved) {
  const auto name_of = [&resolved](std::string_view entity) {
    const auto found = resolved.entity_names.find(entity);
    return found == resolved.entity_names.end() ? std::string() : found->second;
  };
  return {name_of("domainparticipant_qos"), name_of("datawriter_qos"), name_of("datareader_qos")};
}

Result<Profile> for_ranks(Result<QosProvider> provider, std::optional<std::string_view> name,
                          std::vector<std::string>* warnings) {
  if (!provider) return propagate(provider);
  auto resolved = provider->resolve({.profile = name ? std::optional<std::string>(*name) : std::nullopt});
  if (!resolved) return propagate(resolved);
  auto profile = profile_for_ranks(*resolved);
  if (profile && warnings != nullptr) *warnings = std::move(resolved->warnings);
  return profile;
}

}  // namespace

DataReaderQos reader_qos_for_ranks(const ResolvedQos& resolved) {
  DataReaderQos reader = resolved.datareader_qos;
  if (!resolved.origins.contains("datareader_qos.durability.kind"))
    reader.durability = resolved.datawriter_qos.durability;
  return reader;
}

Result<Profile> profile_for_ranks(const ResolvedQos& resolved) {
  if (auto status = check_enforced_with_places(resolved); !status) return propagate(status);
  Profile profile{resolved.name,
                  resolved.datawriter_qos,
                  reader_qos_for_ranks(resolved),
                  resolved.rank_replacement,
                  resolved.domainparticipant_qos.user_data,
                  names_of(resolved),
                  resolved.tuning};
  // Each entity is consistent already, so what is left to disagree with is rank_replacement.
  if (auto status = check_consistent(profile); !status) {
    const auto origin = resolved.origins.find("rank_replacement.kind");
    const std::string& place = origin == resolved.origins.end() ? resolved.place : origin->second.place;
    return failure(status.error().code(), "{}{}", place, status.error().text());
  }
  return profile;
}

Result<Profile> parse_profile(std::string_view text, std::string_view file_name_for_messages,
                              std::optional<std::string_view> name) {
  return for_ranks(QosProvider::parse(text, file_name_for_messages), name, nullptr);
}

Result<Profile> load_profile(const std::filesystem::path& path, std::optional<std::string_view> name,
                             std::span<const std::filesystem::path> directories,
                             std::vector<std::string>* warnings) {
  return for_ranks(QosProvider::load(std::array{path}, directories), name, warnings);
}

}  // namespace llamada::qos
