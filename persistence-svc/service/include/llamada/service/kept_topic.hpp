#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/endpoint_qos.hpp"
#include "llamada/service/seen.hpp"
#include "llamada/store/store.hpp"
#include "llamada/topics/origin.hpp"
#include "llamada/topics/sample.hpp"

// How topics lie in a store, for the service and for tools: docs/internals/kept-topics.md. Each topic is a
// stream; its items are samples, records of writers, and what EXCLUSIVE writers claim.

namespace llamada::service {

/// The key tells one kept topic from another.
struct TopicKey {
  std::uint32_t domain = 0;
  std::string topic;
  std::string type;
  std::uint64_t type_hash = 0;
  bool keyed = false;

  auto operator<=>(const TopicKey&) const = default;
};

/// A stream of this name, which has no items, says that the store has met another one: what it knows of
/// writers stays for good from then on, so that it can tell which samples it has dropped.
inline constexpr const char* aligned_stream = "aligned with another store";

/// The name of the topic's stream.
std::string stream_name(const TopicKey& key);

/// A stream's description.
struct KeptTopic {
  TopicKey key;
  std::string type_description;  ///< As EndpointSpec's; may be empty.
};
std::vector<std::byte> encode(const KeptTopic& topic);
/// Errors: parse_error (it is not a topic's stream, or of another version).
Result<KeptTopic> decode_topic(std::span<const std::byte> description);

inline constexpr std::uint8_t item_sample = 1;
inline constexpr std::uint8_t item_writer = 2;
inline constexpr std::uint8_t item_claim = 3;
/// Item::flags of a sample that came from another store after newer ones: source timestamps say where it
/// belongs among those of its instance.
inline constexpr std::uint8_t flag_merged = 1;

/// A sample as an item of a stream. Its data, or with a disposal the key, are the item's body.
struct KeptSample {
  topics::Origin origin;
  topics::ChangeKind kind = topics::ChangeKind::alive;  ///< alive or disposed
  std::uint64_t instance = 0;
  std::int64_t source_timestamp_ns = 0;
  bool is_merged = false;  ///< flag_merged
};
std::vector<std::byte> encode_head(const KeptSample& sample);
/// Errors: parse_error.
Result<KeptSample> decode_sample(const store::Item& item);

/// The record of a writer; its newest one counts.
struct KeptWriter {
  topics::Guid guid;
  Seen seen;  ///< The service has dealt with these samples of it.
  qos::EndpointQos qos;
};
std::vector<std::byte> encode_head(const KeptWriter& writer);
/// Errors: parse_error, and those of qos::deserialize().
Result<KeptWriter> decode_writer(const store::Item& item);

/// A writer with OWNERSHIP EXCLUSIVE writes the instance that is the item's group. The item's time is that of
/// its sample.
struct KeptClaim {
  topics::Guid writer;
  std::uint64_t participant = 0;  ///< Of its EndpointId, which decides among equals.
};
std::vector<std::byte> encode_head(const KeptClaim& claim);
/// Errors: parse_error.
Result<KeptClaim> decode_claim(const store::Item& item);

}  // namespace llamada::service
