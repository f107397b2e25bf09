#include "ls.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "domain.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/mpi/calls.hpp"
#include "llamada/qos/serialization.hpp"
#include "slot_state.hpp"

namespace llamada::tools {
namespace {

using llamanet::Inspector;
using nlohmann::json;

constexpr std::size_t owners_shown_max = 5;

std::string program_of(std::uint32_t pid) {
  std::string name;
  if (pid != 0) std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
  return name;
}

// A text of fixed room in an arena; its writer may have left out the NUL.
template <std::size_t size>
std::string text_of(const char (&text)[size]) {
  return {text, ::strnlen(text, size)};
}

json describe_endpoint(const log::PeerArena& arena, std::uint32_t index) {
  auto& endpoint = arena.endpoint(index);
  bool is_writer = endpoint.kind == static_cast<std::uint32_t>(log::EndpointKind::writer);
  json described{{"kind", is_writer ? "writer" : "reader"},
                 {"topic", text_of(endpoint.topic)},
                 {"type", text_of(endpoint.type)},
                 {"qos", text_of(endpoint.qos)}};
  if (!is_writer) return described;
  std::uint64_t published = 0, published_bytes = 0;
  for (std::uint32_t i = 0; i < arena.log_count(); ++i) {
    auto& log = arena.log(i);
    bool is_journal = (log.flags.load(std::memory_order_relaxed) & log::log_is_journal) != 0;
    if (log.endpoint != index || is_journal) continue;
    published += log.published.load(std::memory_order_relaxed);
    published_bytes += log.published_bytes.load(std::memory_order_relaxed);
  }
  described["published"] = published;
  described["published_bytes"] = published_bytes;
  return described;
}

/// Whom an endpoint matches: the others' ids.
json matched_with(const DomainView& domain, const topics::EndpointId& id) {
  json matched = json::array();
  for (const auto& match : domain.matches) {
    if (match.writer == id) matched.push_back(to_string(match.reader));
    if (match.reader == id) matched.push_back(to_string(match.writer));
  }
  return matched;
}

/// What an application's Participant says of itself, over what its arena's directory says.
void describe_participant(const DomainView& domain, std::uint32_t slot, json& described) {
  for (const auto& participant : domain.participants) {
    if (participant.slot != slot) continue;
    described["participant"] = {{"id", participant.id},
                                {"name", participant.name},
                                {"domain", participant.domain},
                                {"user_data", to_string(qos::UserData{participant.user_data})}};
    described["endpoints"] = json::array();
  }
  if (!described.contains("participant")) return;
  for (const auto& endpoint : domain.endpoints) {
    if (endpoint.info.slot != slot) continue;
    json seen{{"kind", endpoint.info.writer ? "writer" : "reader"},
              {"id", to_string(endpoint.info.id)},
              {"topic", endpoint.info.topic},
              {"type", endpoint.info.type},
              {"keyed", endpoint.info.keyed},
              {"qos", policies_to_string(endpoint.info.qos)},
              {"policies", policies_of(endpoint.info.qos)},
              {"matched", matched_with(domain, endpoint.info.id)}};
    if (endpoint.info.writer) {
      seen["published"] = endpoint.published;
      if (endpoint.published_bytes) seen["published_bytes"] = *endpoint.published_bytes;
    }
    described["endpoints"].push_back(std::move(seen));
  }
}

/// Of a rank on another node, whose driver knows the rest.
json describe_elsewhere(const Inspector::Slot& slot) {
  return {{"slot", slot.index},
          {"state", state_name(slot)},
          {"incarnation", slot.incarnation},
          {"deaths", slot.deaths},
          {"node", *slot.other_node}};
}

json describe_application(const Inspector::Slot& slot, const DomainView& domain) {
  if (slot.other_node) return describe_elsewhere(slot);
  auto view = slot.view();
  json described{{"slot", slot.index},
                 {"state", state_name(slot)},
                 {"incarnation", slot.incarnation},
                 {"deaths", slot.deaths},
                 {"pid", slot.pid},
                 {"program", program_of(slot.pid)},
                 {"replaying", view.replaying()},
                 {"call", mpi::call_name(static_cast<mpi::CallId>(view.call_id()))},
                 {"call_index", view.call_index()},
                 {"memory_bytes", view.pool_used()},
                 {"live_bytes", view.pool_live()},
                 {"endpoints", json::array()}};
  auto arena = slot.peer();
  if (!arena.ready()) return described;
  for (std::uint32_t i = 0; i < arena.endpoint_count(); ++i) {
    const auto& endpoint = arena.endpoint(i);
    const bool is_endpoint = endpoint.kind != static_cast<std::uint32_t>(log::EndpointKind::participant);
    if (is_endpoint && endpoint.alive.load(std::memory_order_acquire) != 0)
      described["endpoints"].push_back(describe_endpoint(arena, i));
  }
  describe_participant(domain, slot.index, described);
  return described;
}

/// What the profile of a job says of each of its ranks.
void describe_ranks(const qos::Profile& profile, json& application) {
  const auto add = [](json& described, const std::string& name, const qos::UserData& data) {
    if (!name.empty()) described["name"] = name;
    if (!data.value.empty()) described["user_data"] = to_string(data);
  };
  add(application, profile.entity_names.participant, profile.user_data);
  for (json& endpoint : application["endpoints"]) {
    if (endpoint["kind"] == "writer")
      add(endpoint, profile.entity_names.writer, profile.datawriter_qos.user_data);
    else
      add(endpoint, profile.entity_names.reader, profile.datareader_qos.user_data);
  }
}

json describe_driver(const Inspector& inspector) {
  json described{{"name", inspector.name()},
                 {"pid", inspector.pid()},
                 {"protected", inspector.is_protected()},
                 {"log_bytes_max", inspector.log_bytes_max()},
                 {"profile", inspector.profile()},
                 {"applications", json::array()}};
  const DomainView domain = view_of(inspector);
  for (auto& slot : inspector.slots())
    described["applications"].push_back(describe_application(slot, domain));
  // A driver of topics has none.
  if (const auto profile = qos::deserialize(inspector.profile()))
    for (json& application : described["applications"])
      if (!application.contains("node")) describe_ranks(*profile, application);
  return described;
}

void print_matches(const json& endpoint) {
  fmt::print("      {} matches ", endpoint["id"].get<std::string>());
  const auto& matched = endpoint["matched"];
  for (std::size_t i = 0; i < matched.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : ", ", matched[i].get<std::string>());
  fmt::print("{}\n", matched.empty() ? "nobody (llamada why TOPIC says why)" : "");
}

/// The name and USER_DATA that a profile gives, if it does.
std::string given_to(const json& described) {
  std::string text;
  if (described.contains("name")) text += fmt::format("  '{}'", described["name"].get<std::string>());
  if (described.contains("user_data"))
    text += fmt::format("  USER_DATA {}", described["user_data"].get<std::string>());
  return text;
}

void print_application(const json& application, bool is_job) {
  if (application.contains("node")) {
    fmt::print("  rank {}  on node {}  incarnation {}  {}\n", application["slot"].get<std::uint32_t>(),
               application["node"].get<std::uint32_t>(), application["incarnation"].get<std::uint32_t>(),
               application["state"].get<std::string>());
    return;
  }
  auto call = application["call"].get<std::string>();
  fmt::print("  {} {}  {}  pid {}  incarnation {}  {}{}{}\n", is_job ? "rank" : "slot",
             application["slot"].get<std::uint32_t>(), application["program"].get<std::string>(),
             application["pid"].get<std::uint32_t>(), application["incarnation"].get<std::uint32_t>(),
             application["state"].get<std::string>(), call.empty() ? "" : ", in " + call,
             given_to(application));
  if (application.contains("participant")) {
    const auto& participant = application["participant"];
    fmt::print("    participant {} '{}' in domain {}\n", participant["id"].get<std::uint64_t>(),
               participant["name"].get<std::string>(), participant["domain"].get<std::uint32_t>());
  }
  for (auto& endpoint : application["endpoints"]) {
    auto kind = endpoint["kind"].get<std::string>();
    fmt::print("    {} of {} ({})  {}", kind, endpoint["topic"].get<std::string>(),
               endpoint["type"].get<std::string>(), endpoint["qos"].get<std::string>());
    if (kind == "writer") fmt::print("  published {}", endpoint["published"].get<std::uint64_t>());
    if (endpoint.contains("published_bytes"))
      fmt::print(" ({} bytes)", endpoint["published_bytes"].get<std::uint64_t>());
    fmt::print("{}\n", given_to(endpoint));
    if (endpoint.contains("matched")) print_matches(endpoint);
  }
}

void print_driver(const json& driver) {
  auto name = driver["name"].get<std::string>();
  fmt::print("{}  (llamanetd, pid {}){}\n", name, driver["pid"].get<std::uint32_t>(),
             driver["protected"].get<bool>() ? "" : "  UNPROTECTED: ranks can no longer be replaced");
  for (auto& application : driver["applications"]) print_application(application, name.starts_with("job-"));
}

/// Anybody may take a name that looks like one of ours.
std::string foreign_line(const llamanet::ForeignNames& foreign) {
  std::string users;
  std::size_t shown = 0;
  for (const std::uint32_t owner : foreign.owners) {
    if (++shown > owners_shown_max) break;
    users += fmt::format("{}{}", users.empty() ? "" : ", ", owner);
  }
  if (foreign.owners.size() > owners_shown_max) users += ", …";
  const bool one = foreign.count == 1;
  return fmt::format("llamada: {} name{} of user {}'s drivers {} held by other users{}; {} left out.\n",
                     foreign.count, one ? "" : "s", ::geteuid(), one ? "is" : "are",
                     users.empty() ? "" : fmt::format(" (user {})", users), one ? "it is" : "they are");
}

}  // namespace

int list(bool as_json) {
  json drivers = json::array();
  auto looked = look_at_drivers(
      [&](const std::string&, const Inspector& driver) { drivers.push_back(describe_driver(driver)); });
  if (!looked) {
    fmt::print(stderr, "llamada: {}\n", looked.error().text());
    return 1;
  }
  if (as_json) {
    // What arenas contain need not be UTF-8.
    auto text = json{{"drivers", drivers}}.dump(2, ' ', false, json::error_handler_t::replace);
    fmt::print("{}\n", text);
  } else if (drivers.empty()) {
    fmt::print("No driver of this user is running on this node.\n");
  } else {
    for (auto& driver : drivers) print_driver(driver);
  }
  if (looked->foreign.count > 0) fmt::print(stderr, "{}", foreign_line(looked->foreign));
  return looked->seen_all ? 0 : 1;
}

}  // namespace llamada::tools
