// Policies that decide who meets whom, and what the ends know of each other.
#include "llamada/llamanet/inspector.hpp"
#include "peer.hpp"

namespace llamada::dcps::test {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (int each : values) all.push_back(static_cast<std::byte>(each));
  return all;
}

/// What the reader knows of its one matched writer.
PublicationBuiltinTopicData publication(DataReader& reader) {
  const auto handles = reader.matched_publications();
  REQUIRE(handles.size() == 1);
  auto data = reader.matched_publication_data(handles[0]);
  REQUIRE(data);
  return *data;
}

TEST_CASE("USER_DATA: of a participant and a writer is seen by the other process, also when it changes",
          "[dcps]") {
  World world;
  auto reader = world.reader();
  Peer peer(world.socket_name(), "peer", "010203");
  Policies policies;
  policies.writer.user_data.value = bytes({4, 5});
  peer.make_writer("w", policies);
  await_matched(*reader);
  CHECK(publication(*reader).qos.user_data.value == bytes({4, 5}));
  const InstanceHandle participant = publication(*reader).participant_key;
  CHECK(world.participant().discovered_participant_data(participant)->user_data == bytes({1, 2, 3}));

  policies.writer.user_data.value = bytes({6});
  (void)peer.ask("set_writer_qos w " + writer_words(policies));
  (void)peer.ask("user_data 0708");
  CHECK(eventually([&] { return publication(*reader).qos.user_data.value == bytes({6}); }));
  CHECK(eventually([&] {
    return world.participant().discovered_participant_data(participant)->user_data == bytes({7, 8});
  }));
}

TEST_CASE("TOPIC_DATA: travels with the writers of the topic, also when it changes", "[dcps]") {
  World world;
  auto reader = world.reader();
  Peer peer(world.socket_name());
  Policies policies;
  policies.topic_data.value = bytes({1, 2});
  peer.make_writer("w", policies);
  await_matched(*reader);
  CHECK(publication(*reader).topic_data.value == bytes({1, 2}));
  (void)peer.ask("topic_data readings 03");
  CHECK(eventually([&] { return publication(*reader).topic_data.value == bytes({3}); }));
}

TEST_CASE("GROUP_DATA: travels with the writers of the publisher, also when it changes", "[dcps]") {
  World world;
  auto reader = world.reader();
  Peer peer(world.socket_name());
  Policies policies;
  policies.publisher.group_data.value = bytes({1});
  peer.make_writer("w", policies);
  await_matched(*reader);
  CHECK(publication(*reader).publisher.group_data.value == bytes({1}));
  policies.publisher.group_data.value = bytes({2, 3});
  (void)peer.ask("set_publisher_qos w " + publisher_words(policies));
  CHECK(eventually([&] { return publication(*reader).publisher.group_data.value == bytes({2, 3}); }));
}

TEST_CASE("PARTITION: names and wildcards decide who matches, and matches come and go with them", "[dcps]") {
  World world;
  Policies policies;
  policies.publisher.partition.name = {"plant/a"};
  policies.subscriber.partition.name = {"plant/*"};
  auto reader = world.reader(policies);
  Policies elsewhere;
  elsewhere.subscriber.partition.name = {"office"};
  auto other = world.reader(elsewhere);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  await_matched(*reader);
  peer.write("w", 1, 1);
  CHECK(take_until(*reader, "1:1") == "1:1");
  CHECK(other->matched_publications().empty());

  policies.publisher.partition.name = {"office"};
  (void)peer.ask("set_publisher_qos w " + publisher_words(policies));
  await_matched(*other);
  await_matched(*reader, 0);
  CHECK(reader->subscription_matched_status().total_count == 1);
  peer.await_matched("w");
  peer.write("w", 1, 2);
  CHECK(take_until(*other, "1:2") == "1:2");
  CHECK(take_text(*reader) == "-N");  // its writer is gone
  CHECK(peer.status("w", "incompatible") == 0);
}

TEST_CASE("ENTITY_FACTORY: what is not enabled is not there for the other process", "[dcps]") {
  World world;
  auto reader = world.reader();
  Peer peer(world.socket_name());
  Policies policies;
  policies.publisher.entity_factory.autoenable_created_entities = false;
  peer.make_writer("w", policies);
  CHECK(peer.try_asking("write w 1 1 1 0 -1").substr(0, 17) == "error not_enabled");
  peer.make_writer("enabled", {});
  await_matched(*reader);  // the other one alone
  (void)peer.ask("enable w");
  await_matched(*reader, 2);
  peer.await_matched("w");
  peer.write("w", 1, 1);
  CHECK(take_until(*reader, "1:1") == "1:1");
}

// Each pair that does not fit is told to both ends, with the policy.
void check_incompatible(const Policies& policies, qos::PolicyId policy) {
  World world;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_status("w", "incompatible", 1);
  CHECK(peer.status("w", "policy") == static_cast<std::int64_t>(policy));
  CHECK(peer.status("w", "current") == 0);
  RequestedIncompatibleQosStatus status;
  REQUIRE(eventually([&] { return (status = reader->requested_incompatible_qos_status()).total_count > 0; }));
  CHECK(status.last_policy_id == policy);
  CHECK(!status.last_reason.empty());
  CHECK(reader->matched_publications().empty());
}

TEST_CASE("LATENCY_BUDGET: a writer that offers a longer one is told, and so is the reader", "[dcps]") {
  Policies policies;
  policies.writer.latency_budget.duration = 10ms;
  policies.reader.latency_budget.duration = 5ms;
  check_incompatible(policies, qos::PolicyId::latency_budget);
}

TEST_CASE("LATENCY_BUDGET: within a budget samples arrive, all and in order", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.latency_budget.duration = 5ms;
  policies.reader.latency_budget.duration = 10ms;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  peer.write("w", 1, 1, 3);
  CHECK(take_until(*reader, "1:1 1:2 1:3") == "1:1 1:2 1:3");
}

/// How often the applications of the node have woken others.
std::uint64_t wakes_of_all(const std::string& socket_name) {
  auto inspector = llamanet::Inspector::open(socket_name);
  REQUIRE(inspector);
  std::uint64_t wakes = 0;
  for (const auto& slot : inspector->slots()) wakes += slot.view().counter(log::Counter::wakes);
  return wakes;
}

TEST_CASE("LATENCY_BUDGET: a reader that sleeps is woken once for the samples of a budget", "[dcps]") {
  constexpr auto budget = 100ms;
  constexpr std::int32_t sample_count = 200;
  World world;
  Policies policies;
  policies.writer.latency_budget.duration = budget;
  policies.reader.latency_budget.duration = budget;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  const std::uint64_t wakes_before = wakes_of_all(world.socket_name());
  const auto start = std::chrono::steady_clock::now();
  std::string expected;
  for (std::int32_t value = 1; value <= sample_count; ++value) {
    peer.write("w", 1, value);
    expected += fmt::format("{}1:{}", value == 1 ? "" : " ", value);
  }
  CHECK(take_until(*reader, expected) == expected);
  // For each budget that has begun: the reader, the writer's own thread to keep the time, and their answers.
  const auto budgets = (std::chrono::steady_clock::now() - start) / budget + 1;
  CHECK(wakes_of_all(world.socket_name()) - wakes_before <= static_cast<std::uint64_t>(4 * budgets + 10));
}

TEST_CASE("OWNERSHIP: kinds that differ do not fit", "[dcps]") {
  Policies policies;
  policies.writer.ownership.kind = qos::OwnershipKind::exclusive;
  check_incompatible(policies, qos::PolicyId::ownership);
}

TEST_CASE("DURABILITY: a VOLATILE writer does not fit a TRANSIENT_LOCAL reader", "[dcps]") {
  Policies policies;
  policies.reader.durability.kind = qos::DurabilityKind::transient_local;
  check_incompatible(policies, qos::PolicyId::durability);
}

TEST_CASE("DEADLINE: a longer period offered does not fit", "[dcps]") {
  Policies policies;
  policies.writer.deadline.period = 2s;
  policies.reader.deadline.period = 1s;
  check_incompatible(policies, qos::PolicyId::deadline);
}

TEST_CASE("LIVELINESS: a weaker kind offered does not fit", "[dcps]") {
  Policies policies;
  policies.reader.liveliness.kind = qos::LivelinessKind::manual_by_topic;
  check_incompatible(policies, qos::PolicyId::liveliness);
}

TEST_CASE("DESTINATION_ORDER: a writer by reception does not fit a reader by source", "[dcps]") {
  Policies policies;
  policies.reader.destination_order.kind = qos::DestinationOrderKind::by_source_timestamp;
  check_incompatible(policies, qos::PolicyId::destination_order);
}

TEST_CASE("PRESENTATION: coherent access that is not offered does not fit", "[dcps]") {
  Policies policies;
  policies.subscriber.presentation.coherent_access = true;
  check_incompatible(policies, qos::PolicyId::presentation);
}

}  // namespace
}  // namespace llamada::dcps::test
