#pragma once

#include "llamada/topics/discovery.hpp"

namespace llamada::service {

/// An endpoint of the service that only this other one matches; its policies are to be set.
inline topics::EndpointSpec spec_only_with(const topics::EndpointInfo& other) {
  topics::EndpointSpec spec;
  spec.topic = other.topic;
  spec.type = other.type;
  spec.type_hash = other.type_hash;
  spec.keyed = other.keyed;
  spec.only_with = other.id;
  return spec;
}

/// A writer of a link between services: nothing is lost, and nothing stays behind.
inline qos::EndpointQos link_offer() {
  qos::DataWriterQos writer;
  writer.reliability.kind = qos::ReliabilityKind::reliable;
  writer.history.kind = qos::HistoryKind::keep_all;
  return qos::endpoint_qos(writer, qos::PublisherQos{});
}

inline qos::EndpointQos link_request() {
  qos::DataReaderQos reader;
  reader.reliability.kind = qos::ReliabilityKind::reliable;
  reader.history.kind = qos::HistoryKind::keep_all;
  return qos::endpoint_qos(reader, qos::SubscriberQos{});
}

}  // namespace llamada::service
