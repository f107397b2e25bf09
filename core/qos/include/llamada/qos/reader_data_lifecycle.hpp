#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// READER_DATA_LIFECYCLE (DDS 1.4, 2.2.3.22): how long a reader keeps the samples of instances that nobody
/// writes any more, or that are disposed of, if nobody takes them. Changeable; nothing to match.
struct ReaderDataLifecycle {
  static constexpr PolicyId id = PolicyId::reader_data_lifecycle;

  Duration autopurge_nowriter_samples_delay = duration_infinite;
  Duration autopurge_disposed_samples_delay = duration_infinite;

  bool operator==(const ReaderDataLifecycle&) const = default;
};

/// Errc::invalid_argument if a delay is negative.
Status check_consistent(const ReaderDataLifecycle& policy);

/// "autopurge_nowriter_samples_delay infinite, autopurge_disposed_samples_delay infinite".
std::string to_string(const ReaderDataLifecycle& policy);

}  // namespace llamada::qos
