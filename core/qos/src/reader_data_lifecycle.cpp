#include "llamada/qos/reader_data_lifecycle.hpp"

namespace llamada::qos {

Status check_consistent(const ReaderDataLifecycle& policy) {
  if (policy.autopurge_nowriter_samples_delay < Duration::zero()) {
    return failure(Errc::invalid_argument,
                   "READER_DATA_LIFECYCLE: autopurge_nowriter_samples_delay is {}; it must not be negative",
                   to_string(policy.autopurge_nowriter_samples_delay));
  }
  if (policy.autopurge_disposed_samples_delay < Duration::zero()) {
    return failure(Errc::invalid_argument,
                   "READER_DATA_LIFECYCLE: autopurge_disposed_samples_delay is {}; it must not be negative",
                   to_string(policy.autopurge_disposed_samples_delay));
  }
  return {};
}

std::string to_string(const ReaderDataLifecycle& policy) {
  return fmt::format("autopurge_nowriter_samples_delay {}, autopurge_disposed_samples_delay {}",
                     to_string(policy.autopurge_nowriter_samples_delay),
                     to_string(policy.autopurge_disposed_samples_delay));
}

}  // namespace llamada::qos
