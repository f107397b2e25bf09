#include "llamada/qos/entity_qos.hpp"

namespace llamada::qos {
namespace {

/// What two policies of one entity have to agree on.
template <typename Qos>
Status check_together(const Qos& qos) {
  if constexpr (requires { qos.resource_limits; }) {
    if (auto status = check_consistent(qos.resource_limits, qos.history); !status) return status;
  }
  if constexpr (requires { qos.time_based_filter; }) {
    if (qos.time_based_filter.minimum_separation > qos.deadline.period) {
      return failure(
          Errc::invalid_argument,
          "TIME_BASED_FILTER: minimum_separation {} is above DEADLINE's period {}; lower it or raise period",
          to_string(qos.time_based_filter.minimum_separation), to_string(qos.deadline.period));
    }
  }
  return {};
}

template <typename Qos>
Status check_each(const Qos& qos) {
  Status status;
  each_policy(qos, [&status](PolicyId, const auto& policy) {
    if constexpr (requires { check_consistent(policy); }) {
      if (status) status = check_consistent(policy);
    }
  });
  return status ? check_together(qos) : status;
}

/// The policy of that type in an entity that has it.
template <typename Policy, typename Qos>
Policy policy_of(const Qos& qos) {
  Policy found;
  each_policy(qos, [&found](PolicyId, const auto& policy) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(policy)>, Policy>) found = policy;
  });
  return found;
}

template <typename Qos>
Status check_same(const Qos& old_qos, const Qos& new_qos) {
  Status status;
  each_policy(old_qos, [&]<typename Policy>(PolicyId id, const Policy& policy) {
    if (!status || is_changeable(id)) return;
    const Policy wanted = policy_of<Policy>(new_qos);
    if (wanted == policy) return;
    status = failure(Errc::incompatible, "{} cannot be changed once the entity is enabled: it is {}, not {}",
                     to_string(id), to_string(policy), to_string(wanted));
  });
  return status;
}

template <typename Qos>
std::string entity_to_string(const Qos& qos) {
  std::string text;
  each_policy(qos, [&text](PolicyId id, const auto& policy) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", to_string(id), to_string(policy));
  });
  return text;
}

template <typename Qos>
void copy_from_topic(Qos& qos, const TopicQos& topic) {
  each_policy(qos, [&topic]<typename Policy>(PolicyId wanted, Policy& policy) {
    each_policy(topic, [&](PolicyId given, const auto& value) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, Policy>) {
        if (given == wanted) policy = value;
      }
    });
  });
}

constexpr std::string_view writer_offers = ", writer offers ";

/// The reasons of check_compatible() all begin with "reader requests" and go on with ", writer offers".
std::string named(const std::string& reason, std::string_view writer, std::string_view reader) {
  const std::size_t comma = reason.find(writer_offers);
  if (!reason.starts_with("reader ") || comma == reason.npos) return reason;
  return fmt::format("reader '{}'{}, writer '{}' offers {}", reader, reason.substr(6, comma - 6), writer,
                     reason.substr(comma + writer_offers.size()));
}

}  // namespace

Status check_consistent(const DomainParticipantQos& qos) { return check_each(qos); }
Status check_changeable(const DomainParticipantQos& old_qos, const DomainParticipantQos& new_qos) {
  return check_same(old_qos, new_qos);
}
std::string to_string(const DomainParticipantQos& qos) { return entity_to_string(qos); }

Status check_consistent(const TopicQos& qos) { return check_each(qos); }
Status check_changeable(const TopicQos& old_qos, const TopicQos& new_qos) {
  return check_same(old_qos, new_qos);
}
std::string to_string(const TopicQos& qos) { return entity_to_string(qos); }

Status check_consistent(const PublisherQos& qos) { return check_each(qos); }
Status check_changeable(const PublisherQos& old_qos, const PublisherQos& new_qos) {
  return check_same(old_qos, new_qos);
}
std::string to_string(const PublisherQos& qos) { return entity_to_string(qos); }

Status check_consistent(const SubscriberQos& qos) { return check_each(qos); }
Status check_changeable(const SubscriberQos& old_qos, const SubscriberQos& new_qos) {
  return check_same(old_qos, new_qos);
}
std::string to_string(const SubscriberQos& qos) { return entity_to_string(qos); }

Status check_consistent(const DataWriterQos& qos) { return check_each(qos); }
Status check_changeable(const DataWriterQos& old_qos, const DataWriterQos& new_qos) {
  return check_same(old_qos, new_qos);
}
std::string to_string(const DataWriterQos& qos) { return entity_to_string(qos); }

Status check_consistent(const DataReaderQos& qos) { return check_each(qos); }
Status check_changeable(const DataReaderQos& old_qos, const DataReaderQos& new_qos) {
  return check_same(old_qos, new_qos);
}
std::string to_string(const DataReaderQos& qos) { return entity_to_string(qos); }

void copy_from_topic_qos(DataWriterQos& qos, const TopicQos& topic) { copy_from_topic(qos, topic); }
void copy_from_topic_qos(DataReaderQos& qos, const TopicQos& topic) { copy_from_topic(qos, topic); }

std::vector<Incompatibility> incompatibilities(const DataWriterQos& offered, const PublisherQos& publisher,
                                               const DataReaderQos& requested,
                                               const SubscriberQos& subscriber) {
  std::vector<Incompatibility> found;
  auto note = [&found]<typename Policy>(const Policy& offer, const Policy& request) {
    const Status status = check_compatible(offer, request);
    if (!status) found.push_back({Policy::id, status.error().text()});
  };
  note(offered.durability, requested.durability);
  note(publisher.presentation, subscriber.presentation);
  note(offered.deadline, requested.deadline);
  note(offered.latency_budget, requested.latency_budget);
  note(offered.ownership, requested.ownership);
  note(offered.liveliness, requested.liveliness);
  note(offered.reliability, requested.reliability);
  note(offered.destination_order, requested.destination_order);
  return found;
}

std::vector<Incompatibility> incompatibilities(const DataWriterQos& offered, const DataReaderQos& requested) {
  return incompatibilities(offered, PublisherQos{}, requested, SubscriberQos{});
}

std::vector<Incompatibility> with_names(std::vector<Incompatibility> found, std::string_view writer,
                                        std::string_view reader) {
  for (Incompatibility& each : found) each.reason = named(each.reason, writer, reader);
  return found;
}

std::string to_string(const std::vector<Incompatibility>& found) {
  std::string text;
  for (const Incompatibility& each : found)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", to_string(each.policy), each.reason);
  return text;
}

Status check_compatible(const DataWriterQos& offered, const DataReaderQos& requested) {
  const auto found = incompatibilities(offered, requested);
  if (found.empty()) return {};
  return failure(Errc::incompatible, "{}", to_string(found));
}

}  // namespace llamada::qos
