#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "domain_handles.hpp"

namespace llamada::dcps::detail {

/// Entities of the domain that a participant treats as absent (DDS 1.4, 2.2.2.2.1.14 to 2.2.2.2.1.17).
///
/// Threads: one at a time, with the participant's lock held.
class IgnoredEntities {
 public:
  void add(InstanceHandle handle) { handles_.push_back(handle); }
  void add_topic(std::string name) { topics_.push_back(std::move(name)); }

  bool has(InstanceHandle handle) const {
    return std::find(handles_.begin(), handles_.end(), handle) != handles_.end();
  }
  /// The endpoint itself, its participant, or its topic.
  bool has(const topics::EndpointInfo& endpoint) const {
    if (handles_.empty() && topics_.empty()) return false;
    return has(handle_of(endpoint.id)) || has(participant_handle(endpoint.id.participant)) ||
           std::find(topics_.begin(), topics_.end(), endpoint.topic) != topics_.end();
  }

 private:
  std::vector<InstanceHandle> handles_;
  std::vector<std::string> topics_;
};

}  // namespace llamada::dcps::detail
