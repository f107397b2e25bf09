#include "domain.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "llamada/topics/matching.hpp"
#include "llamada/types/dynamic_type.hpp"

namespace llamada::tools {

using nlohmann::ordered_json;

const topics::ParticipantInfo* DomainView::participant(std::uint64_t id) const {
  const auto found = std::find_if(participants.begin(), participants.end(),
                                  [id](const auto& each) { return each.id == id; });
  return found == participants.end() ? nullptr : &*found;
}

const topics::ObservedEndpoint* DomainView::endpoint(const topics::EndpointId& id) const {
  const auto found = std::find_if(endpoints.begin(), endpoints.end(),
                                  [&id](const auto& each) { return each.info.id == id; });
  return found == endpoints.end() ? nullptr : &*found;
}

std::uint32_t DomainView::domain_of(const topics::EndpointInfo& endpoint) const {
  const auto* found = participant(endpoint.id.participant);
  return found == nullptr ? 0 : found->domain;
}

const topics::ObservedMatch* DomainView::match(const topics::EndpointId& writer,
                                               const topics::EndpointId& reader) const {
  const auto found = std::find_if(matches.begin(), matches.end(), [&](const topics::ObservedMatch& each) {
    return each.writer == writer && each.reader == reader;
  });
  return found == matches.end() ? nullptr : &*found;
}

namespace {

/// A reader that has not begun yet has nothing to acknowledge of what was there before it.
void count_from_start(std::vector<topics::ObservedMatch>& matches,
                      const std::vector<topics::ObservedGrant>& grants) {
  for (const auto& grant : grants)
    for (auto& match : matches)
      if (match.reader.participant == grant.reader_participant && match.number == grant.match_number)
        match.acknowledged = std::max(match.acknowledged, grant.sequence);
}

}  // namespace

DomainView view_of(const llamanet::Inspector& inspector) {
  DomainView view;
  std::vector<topics::ObservedGrant> grants;
  for (const auto& slot : inspector.slots()) {
    if (slot.state != llamanet::SlotState::attached || slot.pid == static_cast<std::uint32_t>(::getpid()))
      continue;
    auto seen = topics::observe(slot.peer(), slot.arena_id, slot.index);
    if (!seen.participant) continue;
    view.participants.push_back(std::move(*seen.participant));
    std::move(seen.endpoints.begin(), seen.endpoints.end(), std::back_inserter(view.endpoints));
    std::move(seen.matches.begin(), seen.matches.end(), std::back_inserter(view.matches));
    std::move(seen.grants.begin(), seen.grants.end(), std::back_inserter(grants));
  }
  count_from_start(view.matches, grants);
  return view;
}

Result<Looked> look_at_drivers(
    const std::function<void(const std::string& name, const llamanet::Inspector& driver)>& look) {
  auto found = llamanet::find_drivers(::geteuid());
  if (!found) return propagate(found);
  Looked looked{true, std::move(found->foreign)};
  for (const std::string& name : found->names) {
    auto driver = llamanet::Inspector::open(name);
    if (driver) {
      look(name, *driver);
    } else if (driver.error().code() == Errc::permission_denied) {
      ++looked.foreign.count;
    } else if (driver.error().code() != Errc::closed) {  // closed: it has ended since it was listed
      fmt::print(stderr, "llamada: @{}: {}\n", name, driver.error().text());
      looked.seen_all = false;
    }
  }
  return looked;
}

Result<std::vector<DriverView>> view_drivers() {
  std::vector<DriverView> views;
  auto looked = look_at_drivers([&](const std::string& name, const llamanet::Inspector& driver) {
    views.push_back({name, view_of(driver)});
  });
  if (!looked) return propagate(looked);
  return views;
}

std::string name_of(const DomainView& view, std::uint64_t participant) {
  const auto* found = view.participant(participant);
  if (found == nullptr) return "?";
  std::string name = found->name;
  if (name.empty()) std::getline(std::ifstream(fmt::format("/proc/{}/comm", found->pid)), name);
  return fmt::format("{} (pid {})", name.empty() ? "?" : name, found->pid);
}

std::string to_string(const topics::EndpointId& id) {
  return fmt::format("{}.{}", id.participant, id.endpoint);
}

namespace {

template <typename Qos>
void add_policies(const Qos& qos, ordered_json& out) {
  const Qos standard;
  each_policy(qos, [&]<typename Policy>(qos::PolicyId id, const Policy& policy) {
    each_policy(standard, [&]<typename Other>(qos::PolicyId other, const Other& default_policy) {
      if constexpr (std::same_as<Policy, Other>) {
        if (other == id && !(policy == default_policy))
          out[std::string(qos::to_string(id))] = to_string(policy);
      }
    });
  });
}

}  // namespace

ordered_json policies_of(const qos::EndpointQos& qos) {
  ordered_json out = ordered_json::object();
  // These are always of interest.
  const auto& reliability = qos.writer ? qos.datawriter.reliability : qos.datareader.reliability;
  const auto& durability = qos.writer ? qos.datawriter.durability : qos.datareader.durability;
  const auto& history = qos.writer ? qos.datawriter.history : qos.datareader.history;
  out["RELIABILITY"] = to_string(reliability);
  out["DURABILITY"] = to_string(durability);
  out["HISTORY"] = to_string(history);
  if (qos.writer) {
    add_policies(qos.datawriter, out);
    add_policies(qos.publisher, out);
  } else {
    add_policies(qos.datareader, out);
    add_policies(qos.subscriber, out);
  }
  if (!qos.topic_data.value.empty()) out["TOPIC_DATA"] = to_string(qos.topic_data);
  return out;
}

std::string policies_to_string(const qos::EndpointQos& qos) {
  std::string text;
  const ordered_json policies = policies_of(qos);
  for (const auto& [name, value] : policies.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, value.get<std::string>());
  return text;
}

namespace {

/// Both types have one name; the descriptions know the member in which they differ.
std::string type_difference(const topics::EndpointInfo& writer, const topics::EndpointInfo& reader) {
  auto common = fmt::format("both call their type '{}', and describe it differently", writer.type);
  const auto of_writer = types::DynamicDescription::parse(writer.type_description);
  const auto of_reader = types::DynamicDescription::parse(reader.type_description);
  if (!of_writer || !of_reader) return common;
  const std::string difference = first_difference(**of_writer, **of_reader);
  return difference.empty() ? common : fmt::format("{}: {}", common, difference);
}

std::string difference_of(topics::TopicDifference difference, const topics::EndpointInfo& writer,
                          const topics::EndpointInfo& reader) {
  switch (difference) {
    case topics::TopicDifference::none:
      break;
    case topics::TopicDifference::name:
      return fmt::format("the reader has the topic '{}', the writer '{}'", reader.topic, writer.topic);
    case topics::TopicDifference::type_name:
      return fmt::format("the reader has the type '{}', the writer '{}'", reader.type, writer.type);
    case topics::TopicDifference::key:
      return fmt::format("the {}'s type '{}' has a key, and the {}'s has none",
                         writer.keyed ? "writer" : "reader", writer.type, writer.keyed ? "reader" : "writer");
    case topics::TopicDifference::type_hash:
      return type_difference(writer, reader);
  }
  return "";
}

}  // namespace

std::vector<std::string> reasons_against(const DomainView& view, const topics::EndpointInfo& writer,
                                         const topics::EndpointInfo& reader) {
  std::vector<std::string> reasons;
  if (view.domain_of(writer) != view.domain_of(reader)) {
    reasons.push_back(fmt::format("the reader is in domain {}, the writer in domain {}",
                                  view.domain_of(reader), view.domain_of(writer)));
  }
  const topics::Fit fit = topics::judge(writer, reader);
  if (!fit.is_same_topic()) reasons.push_back(difference_of(fit.difference, writer, reader));
  if (!fit.shares_partition) {
    reasons.push_back(
        fmt::format("PARTITION: the reader is in {}, the writer in {}; they have none in common",
                    to_string(partition_of(reader.qos)), to_string(partition_of(writer.qos))));
  }
  for (const auto& each : with_names(fit.incompatibilities, name_of(view, writer.id.participant),
                                     name_of(view, reader.id.participant)))
    reasons.push_back(fmt::format("{}: {}", qos::to_string(each.policy), each.reason));
  return reasons;
}

TopicPlace find_topics(const std::vector<DriverView>& drivers, const std::vector<std::string>& topics,
                       std::optional<std::uint32_t> domain) {
  const auto is_named = [&](const std::string& topic) {
    return topics.empty() || std::find(topics.begin(), topics.end(), topic) != topics.end();
  };
  for (const DriverView& driver : drivers) {
    for (const auto& endpoint : driver.view.endpoints) {
      const std::uint32_t its_domain = driver.view.domain_of(endpoint.info);
      if (is_named(endpoint.info.topic) && domain.value_or(its_domain) == its_domain)
        return {driver.name, its_domain, true};
    }
  }
  return {"", domain.value_or(0), false};
}

std::string no_such_topic(const std::vector<DriverView>& drivers, std::string_view topic) {
  std::set<std::string> names;
  for (const DriverView& driver : drivers)
    for (const auto& endpoint : driver.view.endpoints) names.insert(endpoint.info.topic);
  std::string text = fmt::format("there is no writer and no reader of the topic '{}'", topic);
  if (names.empty()) return text + "; there is no topic at all";
  return text + fmt::format("; there are: {}", fmt::join(names, ", "));
}

std::string other_users_note() {
  const auto users = llamanet::other_users_with_drivers(::geteuid());
  if (!users || users->empty()) return "";
  return fmt::format(
      "Drivers of other users ({}) run on this node, too: participants of two users never meet. Run all of "
      "them "
      "as one user.",
      fmt::join(*users, ", "));
}

}  // namespace llamada::tools
