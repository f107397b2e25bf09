#include "rank_topic.hpp"

#include <fmt/format.h>

#include <cstring>

#include "job_choice.hpp"
#include "llamada/llamanet/inspector.hpp"

namespace llamada::tools {
namespace {

/// The QoS of a rank's endpoint of this kind, cut off as it lies in its arena; empty: it has none yet.
std::string qos_of(const llamanet::Inspector::Slot& rank, log::EndpointKind kind) {
  const log::PeerArena arena = rank.peer();
  for (std::uint32_t i = 0; i < arena.endpoint_count(); ++i) {
    const log::EndpointEntry& entry = arena.endpoint(i);
    if (entry.kind == static_cast<std::uint32_t>(kind))
      return {entry.qos, ::strnlen(entry.qos, sizeof(entry.qos))};
  }
  return "";
}

std::string explain(const llamanet::Inspector& job) {
  std::size_t rank_count = 0;
  std::string offered, requested;
  for (const auto& slot : job.slots()) {
    if (slot.state != llamanet::SlotState::attached) continue;
    ++rank_count;
    if (offered.empty()) offered = qos_of(slot, log::EndpointKind::writer);
    if (requested.empty()) requested = qos_of(slot, log::EndpointKind::reader);
  }
  return fmt::format(
      "{}: {} rank{} run{}, each with a writer ({}) and a reader ({}) of the topic ranks, which match those "
      "of all "
      "others by the job's profile.\n",
      job.name(), rank_count, rank_count == 1 ? "" : "s", rank_count == 1 ? "s" : "", offered, requested);
}

}  // namespace

std::string explain_rank_topic() {
  const auto jobs = find_jobs();
  if (!jobs) return "";
  std::string text;
  for (const FoundJob& each : *jobs)
    if (const auto job = llamanet::Inspector::open(each.socket_name)) text += explain(*job);
  if (!text.empty()) text += "`llamada spy ranks` shows their messages.\n";
  return text;
}

}  // namespace llamada::tools
