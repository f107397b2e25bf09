// What needs no domain: durations, policies, masks, exceptions, profiles.

#include <filesystem>
#include <fstream>

#include "support.hpp"

using namespace dds::core;
using namespace dds::core::policy;

TEST_CASE("dds: durations and times", "[dds]") {
  CHECK(Duration(1, 500).to_chrono() == std::chrono::nanoseconds(1000000500));
  CHECK(Duration::from_secs(1.5) == Duration(1, 500000000));
  CHECK(Duration::from_millisecs(20).to_microsecs() == 20000);
  CHECK(Duration(std::chrono::minutes(1)).sec() == 60);
  CHECK(Duration::infinite() > Duration(std::chrono::hours(1000000)));
  CHECK(Time(10) + Duration(5) == Time(15));
  CHECK(Time(15) - Time(10) == Duration(5));
}

TEST_CASE("dds: policies go into QoS and come out of it", "[dds]") {
  dds::pub::qos::DataWriterQos qos;
  CHECK(qos.policy<Reliability>().kind() == ReliabilityKind::RELIABLE);
  qos << History::KeepLast(5) << Durability::TransientLocal() << Deadline(Duration(1))
      << UserData(ByteSeq{1, 2});
  CHECK(qos.policy<History>().kind() == HistoryKind::KEEP_LAST);
  CHECK(qos.policy<History>().depth() == 5);
  CHECK(qos.policy<Durability>() == Durability::TransientLocal());
  CHECK(qos.policy<UserData>().value() == ByteSeq{1, 2});
  Deadline deadline;
  qos >> deadline;
  CHECK(deadline.period() == Duration(1));
  CHECK(dds::sub::qos::DataReaderQos().policy<Reliability>().kind() == ReliabilityKind::BEST_EFFORT);
  CHECK_FALSE(qos == dds::pub::qos::DataWriterQos());
}

TEST_CASE("dds: every policy by its names", "[dds]") {
  CHECK(Presentation::GroupAccessScope(true, false).coherent_access());
  CHECK(Presentation::GroupAccessScope().access_scope() == PresentationAccessScopeKind::GROUP);
  CHECK(Ownership::Exclusive().kind() == OwnershipKind::EXCLUSIVE);
  CHECK(OwnershipStrength(7).value() == 7);
  CHECK(Liveliness::ManualByTopic(Duration(3)).lease_duration() == Duration(3));
  CHECK(TimeBasedFilter(Duration(2)).minimum_separation() == Duration(2));
  CHECK(Partition("a").name() == StringSeq{"a"});
  CHECK(TransportPriority(4).value() == 4);
  CHECK(Lifespan(Duration(9)).duration() == Duration(9));
  CHECK(DestinationOrder::SourceTimestamp().kind() == DestinationOrderKind::BY_SOURCE_TIMESTAMP);
  CHECK(ResourceLimits(1, 2, 3).max_samples_per_instance() == 3);
  CHECK_FALSE(EntityFactory::ManuallyEnable().autoenable_created_entities());
  CHECK_FALSE(
      WriterDataLifecycle::ManuallyDisposeUnregisteredInstances().autodispose_unregistered_instances());
  CHECK(ReaderDataLifecycle::NoAutoPurge().autopurge_disposed_samples_delay() == Duration::infinite());
  CHECK(DurabilityService().history_depth(3).history_depth() == 3);
  CHECK(LatencyBudget(Duration(1)).duration() == Duration(1));
  CHECK(SendWindow(2, 8).max() == 8);
}

TEST_CASE("dds: a writer's QoS takes over a topic's", "[dds]") {
  dds::topic::qos::TopicQos topic;
  topic << History::KeepAll() << Lifespan(Duration(5));
  dds::pub::qos::DataWriterQos qos;
  qos = topic;
  CHECK(qos.policy<History>().kind() == HistoryKind::KEEP_ALL);
  CHECK(qos.policy<Lifespan>().duration() == Duration(5));
}

TEST_CASE("dds: exceptions are the standard's and std's", "[dds]") {
  CHECK_THROWS_AS(detail::raise({llamada::Errc::timeout, "late"}), TimeoutError);
  CHECK_THROWS_AS(detail::raise({llamada::Errc::timeout, "late"}), std::runtime_error);
  CHECK_THROWS_AS(detail::raise({llamada::Errc::invalid_argument, "x"}), std::invalid_argument);
  CHECK_THROWS_AS(detail::raise({llamada::Errc::closed, "x"}), AlreadyClosedError);
  CHECK_THROWS_AS(detail::raise({llamada::Errc::immutable_policy, "x"}), ImmutablePolicyError);
  CHECK_THROWS_AS(detail::raise({llamada::Errc::inconsistent_policy, "x"}), InconsistentPolicyError);
  CHECK_THROWS_AS(detail::raise({llamada::Errc::system, "x"}), Error);
  try {
    detail::raise({llamada::Errc::not_enabled, "not yet"});
  } catch (const dds::core::Exception& error) {
    CHECK(std::string(error.what()) == "not yet");
  }
}

TEST_CASE("dds: QosProvider reads a file", "[dds]") {
  const auto path = std::filesystem::temp_directory_path() / (dds_test::unique("qos") + ".xml");
  std::ofstream(path) << R"(<dds><qos_library name="L"><qos_profile name="P"><datawriter_qos><history>
    <kind>KEEP_ALL_HISTORY_QOS</kind></history></datawriter_qos></qos_profile></qos_library></dds>)";
  const QosProvider provider("file://" + path.string(), "L::P");
  CHECK(provider.datawriter_qos().policy<History>().kind() == HistoryKind::KEEP_ALL);
  CHECK(provider.datareader_qos("L::P").policy<History>().kind() == HistoryKind::KEEP_LAST);
  CHECK_THROWS_AS(provider.datawriter_qos("L::Q"), InvalidArgumentError);
  CHECK_THROWS_AS(QosProvider("/nowhere/at/all.xml"), InvalidArgumentError);
  std::filesystem::remove(path);
}

namespace {
std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
}  // namespace

TEST_CASE("dds: the guide begins with the program that is compiled and run", "[dds]") {
  const std::filesystem::path source = LLAMADA_SOURCE_DIR;
  const std::string program = content(source / "samples/guide/twenty_lines.cpp");
  REQUIRE_FALSE(program.empty());
  CHECK(content(source / "docs/guide.md").find("```cpp\n" + program + "```") ==
        std::string("# Guide\n\n").size());
}
