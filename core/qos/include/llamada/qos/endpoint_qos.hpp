#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/entity_qos.hpp"

namespace llamada::qos {

/// Everything that discovery says of the policies of one endpoint: its own, its publisher's or subscriber's,
/// and its topic's data. Policies of the other kind of endpoint have their defaults.
struct EndpointQos {
  bool writer = false;
  DataWriterQos datawriter;  ///< Of a writer.
  PublisherQos publisher;    ///< Of a writer.
  DataReaderQos datareader;  ///< Of a reader.
  SubscriberQos subscriber;  ///< Of a reader.
  TopicData topic_data;

  bool operator==(const EndpointQos&) const = default;
};

EndpointQos endpoint_qos(const DataWriterQos& writer, const PublisherQos& publisher,
                         const TopicData& topic_data = {});
EndpointQos endpoint_qos(const DataReaderQos& reader, const SubscriberQos& subscriber,
                         const TopicData& topic_data = {});

/// The partitions of its publisher or subscriber.
const Partition& partition_of(const EndpointQos& qos);

/// As of each of its entities.
Status check_consistent(const EndpointQos& qos);
Status check_changeable(const EndpointQos& old_qos, const EndpointQos& new_qos);

/// incompatibilities() of a writer's and a reader's. PARTITION is asked apart, by partitions_match().
std::vector<Incompatibility> incompatibilities(const EndpointQos& writer, const EndpointQos& reader);

/// The version that serialize() writes and deserialize() reads.
inline constexpr std::uint8_t endpoint_qos_version = 1;

/// serialize() never makes more bytes than this of consistent policies.
inline constexpr std::size_t serialized_endpoint_qos_size_max_bytes = 32 * 1024;

/// The bytes that discovery carries, for any machine: the version (1 byte), 'W' or 'R', policies, the topic's
/// data. The policies are those of the writer and its publisher, or of the reader and its subscriber. They
/// stand in the order of each_policy(), and the fields of each in the order of each_field(). Little endian,
/// without padding: kinds and booleans are one byte, counts 4 bytes. Durations are 8 bytes of nanoseconds;
/// the largest number is infinite. Bytes and names are a length of 4 bytes and themselves. Lists of names are
/// a count of 4 bytes and the names.
std::vector<std::byte> serialize(const EndpointQos& qos);

/// Reads the bytes of serialize(). Errc::unsupported for another version; Errc::parse_error for bytes that
/// are too few, too many or outside their range; Errc::invalid_argument if the policies are not consistent.
/// Never reads beyond the bytes, and allocates no more than they are.
Result<EndpointQos> deserialize(std::span<const std::byte> bytes);

}  // namespace llamada::qos
