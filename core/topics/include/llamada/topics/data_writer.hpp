#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/profile.hpp"
#include "llamada/topics/log_writer.hpp"

namespace llamada::topics {

class DomainParticipant;

/// OFFERED_ and REQUESTED_INCOMPATIBLE_QOS_STATUS (DDS 1.4, 2.2.4.1).
struct IncompatibleQosStatus {
  std::uint32_t total_count = 0;
  /// Of the last: "reader requests RELIABLE, writer offers BEST_EFFORT".
  std::string reason;
};

/// Publishes samples of one topic (DDS 1.4, 2.2.2.4.2). A sample is written once, into the log in this
/// application's arena, where readers take it in place; the log is also the writer's history.
///
/// VOLATILE reuses what all matched readers have consumed, TRANSIENT_LOCAL keeps all for readers that come
/// later (what a deleted writer has kept stays in the arena until the application ends).
///
/// Threads: the participant's.
class DataWriter {
 public:
  ~DataWriter();
  DataWriter(const DataWriter&) = delete;
  DataWriter& operator=(const DataWriter&) = delete;

  /// Room for a sample in the history itself, to be filled in place. Waits for room up to RELIABILITY's
  /// max_blocking_time. Errors: timeout; out_of_resources (max_samples, or the arena's memory). At most one
  /// loan at a time.
  Result<Reservation> loan(std::size_t size_bytes);
  /// Publishes what was filled in. `instance` names the instance (a key's hash, say).
  void write(Reservation&& loan, std::uint64_t instance = 0);
  /// Copies. Errors: as loan().
  Status write(std::span<const std::byte> sample, std::uint64_t instance = 0);

  const std::string& topic() const { return topic_; }
  const qos::DataWriterQos& qos() const { return qos_; }
  std::size_t matched_count() const { return matches_.size(); }
  const IncompatibleQosStatus& offered_incompatible_qos() const { return incompatible_; }
  std::uint64_t written() const { return log_.published(); }

 private:
  friend class DomainParticipant;

  struct Match {
    std::uint32_t slot;
    std::uint32_t id;
    const CursorEntry* cursor;
    const EndpointEntry* endpoint;
  };

  DataWriter(DomainParticipant& participant, std::string topic, std::string type,
             const qos::DataWriterQos& qos);
  Status open();
  bool is_for(const CursorEntry& cursor) const;
  void consider(const EndpointEntry& reader);
  Status match(std::uint32_t slot, std::uint32_t id, const CursorEntry& cursor, const EndpointEntry& reader);
  void drop_gone(std::uint32_t slot, std::uint32_t id);
  void drop_deleted();

  DomainParticipant& participant_;
  std::string topic_;
  std::string type_;
  qos::DataWriterQos qos_;
  LogWriter log_;
  LogKey key_;
  std::uint32_t endpoint_ = 0;
  bool opened_ = false;
  std::vector<Match> matches_;
  IncompatibleQosStatus incompatible_;
};

}  // namespace llamada::topics
