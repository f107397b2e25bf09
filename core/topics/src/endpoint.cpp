#include "endpoint.hpp"

namespace llamada::topics::detail {
namespace {

template <typename Qos>
Qos matched_policies(const EndpointEntry& entry) {
  Qos qos;
  qos.reliability.kind =
      entry.reliability != 0 ? qos::ReliabilityKind::reliable : qos::ReliabilityKind::best_effort;
  qos.durability.kind = static_cast<qos::DurabilityKind>(entry.durability & 3);
  return qos;
}

}  // namespace

qos::DataWriterQos offered_by(const EndpointEntry& entry) {
  return matched_policies<qos::DataWriterQos>(entry);
}

qos::DataReaderQos requested_by(const EndpointEntry& entry) {
  return matched_policies<qos::DataReaderQos>(entry);
}

bool check_pair(const qos::DataWriterQos& offered, const qos::DataReaderQos& requested,
                IncompatibleQosStatus& status) {
  const auto reasons = qos::incompatibilities(offered, requested);
  if (reasons.empty()) return true;
  ++status.total_count;
  status.reason = reasons.back().reason;
  return false;
}

}  // namespace llamada::topics::detail
