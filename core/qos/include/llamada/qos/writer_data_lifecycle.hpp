#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// WRITER_DATA_LIFECYCLE (DDS 1.4, 2.2.3.21): whether a writer that unregisters an instance, or is deleted,
/// also disposes of it. Changeable; nothing to match.
struct WriterDataLifecycle {
  static constexpr PolicyId id = PolicyId::writer_data_lifecycle;

  bool autodispose_unregistered_instances = true;

  bool operator==(const WriterDataLifecycle&) const = default;
};

/// "autodispose_unregistered_instances true".
std::string to_string(const WriterDataLifecycle& policy);

}  // namespace llamada::qos
