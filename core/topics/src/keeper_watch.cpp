#include "keeper_watch.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace llamada::topics::detail {
namespace {

qos::DurabilityKind durability_of(const EndpointSpec& spec) {
  return spec.qos.writer ? spec.qos.datawriter.durability.kind : spec.qos.datareader.durability.kind;
}

}  // namespace

bool KeeperWatch::needs_service(const EndpointSpec& spec) {
  return durability_of(spec) >= qos::DurabilityKind::transient && !spec.only_with && !spec.keeps;
}

void KeeperWatch::add(const EndpointSpec& spec, std::int64_t now_ns) {
  if (needs_service(spec)) topics_.try_emplace(spec.topic, Topic{durability_of(spec), now_ns + grace_ns});
}

std::int64_t KeeperWatch::keep_time(std::int64_t now_ns, bool has_service, std::uint32_t domain) {
  std::int64_t next_ns = never_ns;
  for (auto& [name, topic] : topics_) {
    if (topic.due_ns > now_ns) {
      next_ns = std::min(next_ns, topic.due_ns);
      continue;
    }
    topic.due_ns = never_ns;
    if (has_service) continue;
    fmt::print(
        stderr,
        "llamada: topic '{}' of process {}: nobody keeps this topic, although its DURABILITY is {}: no "
        "persistence service runs in domain {}. Its samples end with their writers; start "
        "llamada-persistd.\n",
        name, ::getpid(), qos::to_string(topic.kind), domain);
  }
  return next_ns;
}

}  // namespace llamada::topics::detail
