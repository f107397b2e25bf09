#include "ranking.hpp"

#include <string>
#include <vector>

namespace llamada::service {
namespace {

using Names = std::vector<std::string>;

Names names_of(const qos::EndpointQos& writer) {
  const Names& names = qos::partition_of(writer).name;
  return names.empty() ? Names{""} : names;
}

/// The request of the most demanding reader that the writer satisfies.
qos::EndpointQos request_met_by(const qos::EndpointQos& offer) {
  const qos::DataWriterQos& writer = offer.datawriter;
  qos::DataReaderQos reader;
  reader.durability.kind = writer.durability.kind;
  reader.deadline = writer.deadline;
  reader.latency_budget = writer.latency_budget;
  reader.liveliness = writer.liveliness;
  reader.reliability.kind = writer.reliability.kind;
  reader.destination_order = writer.destination_order;
  reader.ownership.kind = writer.ownership.kind;
  qos::SubscriberQos subscriber;
  subscriber.presentation = offer.publisher.presentation;
  return qos::endpoint_qos(reader, subscriber);
}

}  // namespace

bool has_all_readers_of(const qos::EndpointQos& writer, const qos::EndpointQos& other) {
  const Names own = names_of(writer), others = names_of(other);
  const bool is_in_all = std::all_of(others.begin(), others.end(), [&](const std::string& name) {
    return std::find(own.begin(), own.end(), name) != own.end();
  });
  return is_in_all && qos::incompatibilities(writer, request_met_by(other)).empty();
}

}  // namespace llamada::service
