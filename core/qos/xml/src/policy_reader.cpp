#include "policy_reader.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "llamada/qos_xml/profile_file.hpp"
#include "properties.hpp"
#include "values.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

void note(PolicyReader& reader, std::string_view policy, std::string_view field, const Element& value,
          const Element& at) {
  const std::string key = reader.entity.empty() ? fmt::format("{}.{}", policy, field)
                                                : fmt::format("{}.{}.{}", reader.entity, policy, field);
  reader.origins[key] = {std::string(value.file()), value.line(), at.where()};
}

/// One value's element into the field of that name.
template <typename Policy>
Status read_field(PolicyReader& reader, const Element& element, const Element& child, Policy& policy) {
  if (auto status = child.check_attributes({}); !status) return status;
  Status status;
  each_field(policy, [&](std::string_view name, auto& field) {
    if (name != child.name()) return;
    status = read_value(child, name, field);
    note(reader, element_name(Policy::id), name, child, element);
  });
  return status;
}

template <typename Policy>
Status check_policy(const Element& element, const Policy& policy) {
  if constexpr (requires { check_consistent(policy); }) {
    if (auto status = check_consistent(policy); !status) return element.fails(status.error());
  }
  return {};
}

template <typename Policy>
Status read_policy(PolicyReader& reader, const Element& element, Policy& policy) {
  if (auto status = element.check_attributes({}); !status) return status;
  std::vector<std::string_view> names;
  each_field(policy, [&names](std::string_view name, auto&) { names.push_back(name); });
  const std::size_t ignored = reader.warnings.size();
  auto children = element.children_once(names, &reader.warnings);
  if (!children) return propagate(children);
  if (children->empty() && reader.warnings.size() == ignored) {
    return element.fails(Errc::parse_error, "the element is empty; it needs some of: {}", listed(names));
  }
  for (const Element& child : *children) {
    if (auto status = read_field(reader, element, child, policy); !status) return status;
  }
  return check_policy(element, policy);
}

/// RTI's <protocol><rtps_reliable_writer><min_send_window_size>.
Status read_policy(PolicyReader& reader, const Element& element, SendWindow& policy) {
  constexpr std::array<std::string_view, 1> below{"rtps_reliable_writer"};
  constexpr std::array<std::string_view, 2> sizes{"min_send_window_size", "max_send_window_size"};
  if (auto status = element.check_attributes({}); !status) return status;
  auto protocols = element.children_once(below, &reader.warnings);
  if (!protocols) return propagate(protocols);
  for (const Element& protocol : *protocols) {
    if (auto status = protocol.check_attributes({}); !status) return status;
    auto children = protocol.children_once(sizes, &reader.warnings);
    if (!children) return propagate(children);
    for (const Element& child : *children) {
      if (auto status = child.check_attributes({}); !status) return status;
      const bool is_min = child.name() == sizes[0];
      const std::string_view name = is_min ? "min" : "max";
      if (auto status = read_value(child, name, is_min ? policy.min : policy.max); !status) return status;
      note(reader, element_name(SendWindow::id), name, child, element);
    }
    // RTI's file may give the greatest alone; the least has then no other sense than that.
    const auto gives = [&children](std::string_view name) {
      return std::any_of(children->begin(), children->end(),
                         [name](const Element& each) { return each.name() == name; });
    };
    if (gives(sizes[1]) && !gives(sizes[0]) && policy.min == length_unlimited) policy.min = policy.max;
    if (auto status = check_policy(protocol, policy); !status) return status;
  }
  return {};
}

/// The name of a policy's element in an entity.
std::string_view element_of(PolicyId policy) {
  return policy == PolicyId::send_window ? "protocol" : element_name(policy);
}

/// RTI Connext's element for the name of an entity; Cyclone DDS has entity_name in all.
template <typename Qos>
constexpr std::string_view name_element_of() {
  if constexpr (std::same_as<Qos, DomainParticipantQos>) return "participant_name";
  if constexpr (std::same_as<Qos, DataWriterQos>) return "publication_name";
  if constexpr (std::same_as<Qos, DataReaderQos>) return "subscription_name";
  return {};
}

/// <entity_name><name>N</name></entity_name>; RTI Connext's role_name beside it has no effect.
Status read_entity_name(PolicyReader& reader, const Element& element) {
  auto children = element.children();
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    if (child.name() != "name") continue;
    auto name = child.text_or_empty();
    if (!name) return propagate(name);
    if (name->size() > profile_name_length_max)
      return child.fails(Errc::parse_error, "the name has {} bytes; the limit is {}", name->size(),
                         profile_name_length_max);
    if (reader.name != nullptr) *reader.name = std::move(*name);
  }
  return {};
}

template <typename Qos>
Status read_entity(PolicyReader& reader, const Element& element, Qos& qos) {
  std::vector<std::string_view> names;
  each_policy(qos, [&names](PolicyId id, auto&) { names.push_back(element_of(id)); });
  names.emplace_back("base_name");
  names.emplace_back("property");
  names.emplace_back("entity_name");
  const std::string_view connext_name = name_element_of<Qos>();
  if (!connext_name.empty()) names.push_back(connext_name);
  auto children = element.children_once(names, &reader.warnings);
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    Status status;
    each_policy(qos, [&](PolicyId id, auto& policy) {
      if (element_of(id) == child.name()) status = read_policy(reader, child, policy);
    });
    if (child.name() == "property") status = read_properties(reader, child);
    if (child.name() == "entity_name" || (child.name() == connext_name && !connext_name.empty()))
      status = read_entity_name(reader, child);
    if (!status) return status;
  }
  return {};
}

}  // namespace

Status PolicyReader::read(const Element& element, DomainParticipantQos& qos) {
  return read_entity(*this, element, qos);
}
Status PolicyReader::read(const Element& element, PublisherQos& qos) {
  return read_entity(*this, element, qos);
}
Status PolicyReader::read(const Element& element, SubscriberQos& qos) {
  return read_entity(*this, element, qos);
}
Status PolicyReader::read(const Element& element, TopicQos& qos) { return read_entity(*this, element, qos); }
Status PolicyReader::read(const Element& element, DataWriterQos& qos) {
  return read_entity(*this, element, qos);
}
Status PolicyReader::read(const Element& element, DataReaderQos& qos) {
  return read_entity(*this, element, qos);
}
Status PolicyReader::read(const Element& element, RankReplacement& policy) {
  return read_policy(*this, element, policy);
}

}  // namespace llamada::qos::xml
