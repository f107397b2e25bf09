#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llamada/qos/endpoint_qos.hpp"
#include "llamada/topics/origin.hpp"
#include "llamada/topics/sample.hpp"

namespace llamada::topics {

constexpr std::size_t type_description_bytes_max = 65536;

/// What a writer or reader is to be.
struct EndpointSpec {
  std::string topic;
  std::string type;
  /// Of the type's description; 0: unknown, which fits any.
  std::uint64_t type_hash = 0;
  bool keyed = false;
  qos::EndpointQos qos;
  /// Which publisher or subscriber of the participant it belongs to: a number that its user chooses.
  std::uint64_t publisher = 0;
  /// The type as types::TypeSupport::descriptor() says it, for tools; empty if it is unknown. A longer one
  /// than type_description_bytes_max is left out.
  std::string type_description;
  /// This endpoint matches only that one, in whatever PARTITION; empty: it matches all that fit.
  std::optional<EndpointId> only_with;
  /// A reader of a service that keeps topics acknowledges a sample by ReaderEndpoint::acknowledge().
  bool keeps = false;
};

/// A writer or reader in the domain as discovery describes it.
struct EndpointInfo {
  EndpointId id;
  bool writer = false;
  std::string topic;
  std::string type;
  std::uint64_t type_hash = 0;
  bool keyed = false;
  qos::EndpointQos qos;
  std::uint32_t pid = 0;
  std::uint32_t slot = 0;
  std::uint64_t publisher = 0;
  /// Anybody may have written it; empty where the other end is of an older release.
  std::string type_description;
  std::optional<EndpointId> only_with;  ///< As EndpointSpec's.
  bool keeps = false;                   ///< As EndpointSpec's.
  Guid guid;
};

struct ParticipantInfo {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;
  std::uint32_t slot = 0;
  std::uint32_t domain = 0;
  std::string name;
  std::vector<std::byte> user_data;
  /// The Guid::participant of its endpoints; 0: it is of an older release.
  std::uint64_t guid = 0;
  /// It is a service that keeps TRANSIENT and PERSISTENT topics, and gives each late reader what it has.
  bool keeps_topics = false;
};

/// What a ReaderEndpoint tells. Called from within Participant::poll() only; nothing of the Participant or
/// its endpoints may be called from there, Samples may be.
class ReaderEvents {
 public:
  virtual ~ReaderEvents() = default;
  /// The next sample of this writer. False: no room now, it was not moved from; it is offered again in later
  /// polls (and its writer held back, if RELIABLE at both ends and KEEP_ALL).
  virtual bool on_sample(const EndpointId& writer, Sample&& sample) = 0;
  virtual void on_matched(const EndpointInfo& writer) = 0;
  virtual void on_qos_changed(const EndpointInfo& writer) = 0;
  /// After all of its samples. `died`: its process, or its memory is damaged; else it was deleted, or does
  /// not fit any more.
  virtual void on_unmatched(const EndpointId& writer, bool died) = 0;
  /// LIVELINESS (DDS 1.4, 2.2.3.11) of a matched writer, which is alive at first.
  virtual void on_liveliness_changed(const EndpointId& writer, bool alive) = 0;
  /// Once for each writer and each change of the policies of one of the two.
  virtual void on_incompatible(const EndpointInfo& writer, const std::vector<qos::Incompatibility>& why) = 0;
  /// So many samples that this reader had a right to see were overwritten before they were taken, or were
  /// given to a service that does not give them to this reader.
  virtual void on_samples_lost(const EndpointId& writer, std::uint64_t count) = 0;
  /// The sample of this writer with this header came before, from a service that keeps the topic. All that is
  /// new is that this writer, which lives, has written it.
  virtual void on_known_sample(const EndpointId&, const SampleHeader&) {}
};

/// What a WriterEndpoint tells; as ReaderEvents.
class WriterEvents {
 public:
  virtual ~WriterEvents() = default;
  virtual void on_matched(const EndpointInfo& reader) = 0;
  virtual void on_qos_changed(const EndpointInfo& reader) = 0;
  virtual void on_unmatched(const EndpointId& reader, bool died) = 0;
  virtual void on_incompatible(const EndpointInfo& reader, const std::vector<qos::Incompatibility>& why) = 0;
  /// The lease of a MANUAL writer has run out; once until it is asserted again.
  virtual void on_liveliness_lost() = 0;
};

/// All that is in the domain, the own participant included: for built-in topics and tools. As ReaderEvents.
class DiscoveryEvents {
 public:
  virtual ~DiscoveryEvents() = default;
  virtual void on_participant(const ParticipantInfo& participant) = 0;
  virtual void on_participant_gone(std::uint64_t id) = 0;
  virtual void on_endpoint(const EndpointInfo& endpoint) = 0;
  virtual void on_endpoint_changed(const EndpointInfo& endpoint) = 0;
  virtual void on_endpoint_gone(const EndpointId& endpoint) = 0;
  /// A writer that had died before it was discovered, and whose history is still there.
  virtual void on_left_behind(const EndpointInfo&) {}
};

}  // namespace llamada::topics
