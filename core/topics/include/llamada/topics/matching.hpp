#pragma once

#include <cstdint>
#include <vector>

#include "llamada/topics/discovery.hpp"

namespace llamada::topics {

/// The first thing in which the topics of a writer and a reader differ.
enum class TopicDifference : std::uint8_t {
  none,
  name,
  type_name,
  key,        ///< One type has a key and the other has none.
  type_hash,  ///< Both types have one name and different descriptions; a hash of 0 fits any.
};

/// How a writer and a reader of one domain fit each other. Only endpoints that fit() match.
struct Fit {
  TopicDifference difference = TopicDifference::none;
  bool shares_partition = false;                        ///< PARTITION (DDS 1.4, 2.2.3.13)
  std::vector<qos::Incompatibility> incompatibilities;  ///< All other policies with a request and an offer.

  bool is_same_topic() const { return difference == TopicDifference::none; }
  bool fits() const { return is_same_topic() && shares_partition && incompatibilities.empty(); }
};

/// Each is an EndpointSpec or an EndpointInfo.
template <typename Writer, typename Reader>
TopicDifference topic_difference(const Writer& writer, const Reader& reader) {
  if (writer.topic != reader.topic) return TopicDifference::name;
  if (writer.type != reader.type) return TopicDifference::type_name;
  if (writer.keyed != reader.keyed) return TopicDifference::key;
  const bool hashes_fit =
      writer.type_hash == 0 || reader.type_hash == 0 || writer.type_hash == reader.type_hash;
  return hashes_fit ? TopicDifference::none : TopicDifference::type_hash;
}

/// True if an endpoint may match the one with this id. It is an EndpointSpec or an EndpointInfo.
template <typename Endpoint>
bool is_meant_for(const Endpoint& endpoint, const EndpointId& other) {
  return !endpoint.only_with || *endpoint.only_with == other;
}

/// The one function that judges a writer and a reader, for endpoints and for tools. Of endpoints whose topics
/// have different names nothing else is compared. Each is an EndpointSpec or an EndpointInfo. The caller
/// asks is_meant_for() as well.
template <typename Writer, typename Reader>
Fit judge(const Writer& writer, const Reader& reader) {
  Fit fit;
  fit.difference = topic_difference(writer, reader);
  if (fit.difference == TopicDifference::name) return fit;
  fit.shares_partition = writer.only_with || reader.only_with ||
                         qos::partitions_match(partition_of(writer.qos), partition_of(reader.qos));
  fit.incompatibilities = incompatibilities(writer.qos, reader.qos);
  return fit;
}

}  // namespace llamada::topics
