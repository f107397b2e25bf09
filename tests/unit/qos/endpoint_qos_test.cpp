#include "llamada/qos/endpoint_qos.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;
using namespace std::chrono_literals;

namespace {

/// A writer none of whose fields has its default.
EndpointQos unusual_writer() {
  DataWriterQos writer;
  writer.durability.kind = DurabilityKind::persistent;
  writer.durability_service = {1s, HistoryKind::keep_all, 5, 100, 10, 50};
  writer.deadline.period = 3s;
  writer.latency_budget.duration = 4ms;
  writer.liveliness = {LivelinessKind::manual_by_topic, 5s};
  writer.reliability = {ReliabilityKind::best_effort, duration_infinite};
  writer.destination_order.kind = DestinationOrderKind::by_source_timestamp;
  writer.history = {HistoryKind::keep_all, 7};
  writer.resource_limits = {100, 10, 50};
  writer.transport_priority.value = -3;
  writer.lifespan.duration = 1min;
  writer.user_data.value = {std::byte{0}, std::byte{255}};
  writer.ownership.kind = OwnershipKind::exclusive;
  writer.ownership_strength.value = 1 << 30;
  writer.writer_data_lifecycle.autodispose_unregistered_instances = false;
  writer.send_window = {32, 256};
  PublisherQos publisher;
  publisher.presentation = {PresentationAccessScope::group, true, true};
  publisher.partition.name = {"a", "", "b*"};
  publisher.group_data.value = {std::byte{1}};
  publisher.entity_factory.autoenable_created_entities = false;
  return endpoint_qos(writer, publisher, {{std::byte{2}, std::byte{3}}});
}

EndpointQos unusual_reader() {
  DataReaderQos reader;
  reader.time_based_filter.minimum_separation = 1ms;
  reader.deadline.period = 2ms;
  reader.reader_data_lifecycle = {1s, 2s};
  reader.user_data.value = {std::byte{9}};
  SubscriberQos subscriber;
  subscriber.partition.name = {"c"};
  return endpoint_qos(reader, subscriber);
}

std::string error_of(std::span<const std::byte> bytes) {
  auto qos = deserialize(bytes);
  return qos ? "ok" : qos.error().text();
}

}  // namespace

TEST_CASE("endpoint QoS: come out of their bytes as they went in", "[qos]") {
  for (const EndpointQos& qos :
       {unusual_writer(), unusual_reader(), endpoint_qos(DataWriterQos{}, PublisherQos{}),
        endpoint_qos(DataReaderQos{}, SubscriberQos{})}) {
    REQUIRE(check_consistent(qos));
    auto back = deserialize(serialize(qos));
    REQUIRE(back);
    CHECK(*back == qos);
  }
}

TEST_CASE("endpoint QoS: every field is carried", "[qos]") {
  // Each policy of the unusual writer differs from its default, so one that were left out would come back as
  // that.
  const EndpointQos qos = unusual_writer();
  std::size_t policies = 0;
  auto differs = [&policies]<typename Policy>(PolicyId id, const Policy& policy) {
    INFO(to_string(id));
    CHECK_FALSE(policy == Policy{});
    ++policies;
  };
  each_policy(qos.datawriter, [&]<typename Policy>(PolicyId id, const Policy& policy) {
    // A writer's default RELIABILITY is not the policy's.
    if constexpr (!std::same_as<Policy, Reliability>) differs(id, policy);
  });
  each_policy(qos.publisher, differs);
  CHECK(policies == 19);
  CHECK_FALSE(qos.datawriter.reliability == DataWriterQos{}.reliability);
}

TEST_CASE("endpoint QoS: no more than the limit says", "[qos]") {
  EndpointQos qos = unusual_writer();
  qos.datawriter.user_data.value.resize(opaque_value_size_max_bytes);
  qos.publisher.group_data.value.resize(opaque_value_size_max_bytes);
  qos.topic_data.value.resize(opaque_value_size_max_bytes);
  qos.publisher.partition.name.assign(partition_names_max, std::string(partition_name_length_max, 'x'));
  REQUIRE(check_consistent(qos));
  CHECK(serialize(qos).size() <= serialized_endpoint_qos_size_max_bytes);
}

TEST_CASE("endpoint QoS: bytes that are cut anywhere are refused", "[qos]") {
  for (const EndpointQos& qos : {unusual_writer(), unusual_reader()}) {
    const auto bytes = serialize(qos);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      INFO(size);
      CHECK(error_of(std::span(bytes).first(size)).starts_with("the QoS of an endpoint is cut short"));
    }
  }
}

TEST_CASE("endpoint QoS: what is not legal is refused with one sentence", "[qos]") {
  auto bytes = serialize(endpoint_qos(DataWriterQos{}, PublisherQos{}));
  bytes[0] = std::byte{2};
  CHECK(error_of(bytes) == "the QoS of an endpoint has version 2; this program knows version 1");
  bytes[0] = std::byte{1};
  bytes[1] = std::byte{'X'};
  CHECK(error_of(bytes).starts_with("the QoS of an endpoint is cut short or not legal"));
  bytes[1] = std::byte{'W'};
  bytes[2] = std::byte{4};  // DURABILITY's kind
  CHECK(error_of(bytes) == "the QoS of an endpoint is cut short or not legal at DURABILITY");
  bytes[2] = std::byte{0};
  CHECK(error_of(bytes) == "ok");
  bytes.push_back(std::byte{0});
  CHECK(error_of(bytes) == "the QoS of an endpoint has 1 bytes too many");
}

TEST_CASE("endpoint QoS: inconsistent policies and wild lengths are refused", "[qos]") {
  EndpointQos qos = endpoint_qos(DataWriterQos{}, PublisherQos{});
  qos.datawriter.history.depth = 0;
  CHECK(error_of(serialize(qos)) == "HISTORY: KEEP_LAST with depth 0; depth must be at least 1");
  // The last four bytes are the length of TOPIC_DATA.
  auto bytes = serialize(endpoint_qos(DataReaderQos{}, SubscriberQos{}));
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() - 1 - i] = std::byte{0xff};
  CHECK(error_of(bytes) == "the QoS of an endpoint is cut short or not legal at TOPIC_DATA");
}

TEST_CASE("endpoint QoS: one changed byte never breaks the reader", "[qos]") {
  const auto bytes = serialize(unusual_writer());
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (unsigned value : {0U, 1U, 2U, 127U, 128U, 255U}) {
      auto changed = bytes;
      changed[place] = static_cast<std::byte>(value);
      auto qos = deserialize(changed);
      if (qos) CHECK(serialize(*qos) == changed);
    }
  }
}

TEST_CASE("endpoint QoS: changes and mismatches are those of the entities", "[qos]") {
  EndpointQos writer = endpoint_qos(DataWriterQos{}, PublisherQos{});
  EndpointQos changed = writer;
  changed.publisher.partition.name = {"a"};
  CHECK(check_changeable(writer, changed));
  CHECK(partition_of(changed).name == std::vector<std::string>{"a"});
  changed.publisher.presentation.coherent_access = true;
  CHECK_FALSE(check_changeable(writer, changed));
  changed = writer;
  changed.datawriter.durability.kind = DurabilityKind::transient_local;
  CHECK_FALSE(check_changeable(writer, changed));
  EndpointQos reader = endpoint_qos(DataReaderQos{}, SubscriberQos{});
  CHECK_FALSE(check_changeable(writer, reader));
  CHECK(incompatibilities(writer, reader).empty());
  reader.subscriber.presentation.ordered_access = true;
  reader.datareader.deadline.period = 1s;
  CHECK(to_string(incompatibilities(writer, reader)) ==
        "PRESENTATION: reader requests ordered_access true, writer offers false; DEADLINE: reader requests "
        "period 1 s, writer offers infinite");
}
