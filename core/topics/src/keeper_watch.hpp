#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "llamada/topics/discovery.hpp"

namespace llamada::topics::detail {

/// Says, once for each topic, that no service keeps it although its DURABILITY is TRANSIENT or PERSISTENT.
///
/// Pure but for the sentence on stderr: times are nanoseconds of the monotonic clock and come in with the
/// calls.
class KeeperWatch {
 public:
  /// An endpoint that a service should serve has been made.
  void add(const EndpointSpec& spec, std::int64_t now_ns);
  /// When to be called next.
  std::int64_t keep_time(std::int64_t now_ns, bool has_service, std::uint32_t domain);

  /// True if an endpoint needs a service.
  static bool needs_service(const EndpointSpec& spec);

 private:
  static constexpr std::int64_t grace_ns = 1'000'000'000;  // for a service that starts at the same time
  static constexpr std::int64_t never_ns = INT64_MAX;

  struct Topic {
    qos::DurabilityKind kind;
    std::int64_t due_ns;  // never_ns: it was looked at
  };
  std::map<std::string, Topic> topics_;
};

}  // namespace llamada::topics::detail
