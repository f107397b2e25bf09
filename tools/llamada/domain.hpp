#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/topics/observe.hpp"

namespace llamada::tools {

/// All participants of one driver, with their endpoints and who matches whom, at one moment.
struct DomainView {
  std::vector<topics::ParticipantInfo> participants;
  std::vector<topics::ObservedEndpoint> endpoints;
  std::vector<topics::ObservedMatch> matches;

  const topics::ParticipantInfo* participant(std::uint64_t id) const;
  const topics::ObservedEndpoint* endpoint(const topics::EndpointId& id) const;
  /// The domain of an endpoint's participant.
  std::uint32_t domain_of(const topics::EndpointInfo& endpoint) const;
  /// Whether the reader has a match with the writer.
  const topics::ObservedMatch* match(const topics::EndpointId& writer,
                                     const topics::EndpointId& reader) const;
};

/// What lies in the arenas of a driver's applications that live. This process is left out.
DomainView view_of(const llamanet::Inspector& inspector);

struct DriverView {
  std::string name;  ///< Of the driver's socket.
  DomainView view;
};

/// Of each driver of this user that can be looked at, at this moment.
Result<std::vector<DriverView>> view_drivers();
/// What came of a look at all drivers.
struct Looked {
  bool seen_all = true;  ///< false: some could not be looked at; standard error has why
  llamanet::ForeignNames foreign;
};

/// Shows all drivers of this user.
Result<Looked> look_at_drivers(
    const std::function<void(const std::string& name, const llamanet::Inspector& driver)>& look);

/// "solver (pid 4711)": the participant's name, or its program's.
std::string name_of(const DomainView& view, std::uint64_t participant);

/// "7.3": an endpoint in short.
std::string to_string(const topics::EndpointId& id);

/// The policies that have not their defaults, as they print, by their names: of the endpoint and its group.
nlohmann::ordered_json policies_of(const qos::EndpointQos& qos);
std::string policies_to_string(const qos::EndpointQos& qos);

/// Why a writer and a reader of one topic do not match; empty if they do. topics::judge() decides.
std::vector<std::string> reasons_against(const DomainView& view, const topics::EndpointInfo& writer,
                                         const topics::EndpointInfo& reader);

/// The driver that has one of the topics, and the domain of that topic there.
struct TopicPlace {
  std::string driver;  ///< Empty: the node's.
  std::uint32_t domain = 0;
  bool found = false;
};

/// Where one of the topics is, any topic if none is named; else the node's driver. `domain` is the one to
/// look in, and if it is not given, any: else 0.
TopicPlace find_topics(const std::vector<DriverView>& drivers, const std::vector<std::string>& topics,
                       std::optional<std::uint32_t> domain);

/// "there is no writer and no reader of the topic 'x'; there are: a, b".
std::string no_such_topic(const std::vector<DriverView>& drivers, std::string_view topic);

/// "Drivers of other users (1001) run on this node, too: ..."; empty without any.
std::string other_users_note();

}  // namespace llamada::tools
