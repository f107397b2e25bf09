// What needs no domain: durations, policies, masks, exceptions, profiles.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

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

TEST_CASE("dds: spans of time are added, multiplied and compared without overflow", "[dds]") {
  CHECK(Duration(1) + Duration(2) == Duration(3));
  CHECK(Duration(3) - Duration(0, 1) == Duration(2, 999999999));
  CHECK(Duration(1, 500000000) * 2 == Duration(3));
  CHECK(2 * Duration(1) == Duration(2));
  CHECK(Duration(3) / 2 == Duration::from_millisecs(1500));
  CHECK(Duration(1) < Duration(2));
  CHECK(Duration(1) > std::chrono::milliseconds(999));
  CHECK(Duration(1).compare(Duration(2)) < 0);
  Duration span(1);
  span += Duration(2);
  span -= Duration(1);
  span *= 3;
  CHECK(span == Duration(6));
  span.sec(1);
  span.nanosec(5);
  CHECK(span == Duration(1, 5));

  CHECK(Duration(-1, 500000000).sec() == -1);
  CHECK(Duration(-1, 500000000).nanosec() == 500000000);
  CHECK(Duration(-1, 500000000).to_millisecs() == -500);
  CHECK(Duration(0x7fffffff, 0x7fffffff) == Duration::infinite());
  CHECK(Duration(10000000000) == Duration::infinite());
  CHECK(Duration::from_secs(1e30) == Duration::infinite());
  CHECK(Duration::from_millisecs(std::numeric_limits<std::int64_t>::max()) == Duration::infinite());
  CHECK(Duration(std::chrono::hours::max()) == Duration::infinite());
  CHECK(Duration::infinite() - Duration(1) == Duration::infinite());
  CHECK(Duration::infinite() / 2 == Duration::infinite());
  CHECK(Duration(std::chrono::hours(24 * 365 * 200)) * 2 == Duration::infinite());
  CHECK(Duration(std::chrono::hours(24 * 365 * 200)) + std::chrono::hours(24 * 365 * 200) ==
        Duration::infinite());
  CHECK_THROWS_AS(Duration(1) / 0, InvalidArgumentError);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Duration, double>);  // it would be rounded silently
}

TEST_CASE("dds: moments and spans", "[dds]") {
  CHECK(Time::from_millisecs(5) == Time(0, 5000000));
  CHECK(Time::from_microsecs(5) == Time(0, 5000));
  CHECK(Time::from_secs(2.5) == Time(2, 500000000));
  CHECK(Time(2, 500000000).to_secs() == 2.5);
  CHECK(Time(2, 500000000).to_millisecs() == 2500);
  CHECK(Duration(5) + Time(10) == Time(15));
  CHECK(Time(10) - Duration(0, 1) == Time(9, 999999999));
  Time moment(10);
  moment += Duration(5);
  moment -= Duration(1);
  CHECK(moment == Time(14));
  CHECK(Time(1).compare(Time(0)) > 0);
  CHECK(Time(10) + Duration::infinite() > Time(9000000000));
  CHECK(Time::invalid() < Time());
}

TEST_CASE("dds: handles print, and can be nil", "[dds]") {
  std::ostringstream out;
  out << InstanceHandle::nil() << " " << InstanceHandle(llamada::dcps::InstanceHandle{1, 0x2a});
  CHECK(out.str() == "nil 1:2a");
  CHECK(InstanceHandle(null) == InstanceHandle::nil());
  CHECK(InstanceHandle(null).is_nil());
}

TEST_CASE("dds: masks of statuses are sets of bits", "[dds]") {
  using status::StatusMask;
  const auto mask = StatusMask::data_available() | StatusMask::sample_lost();
  CHECK(mask.test(10));
  CHECK_FALSE(mask.test(1));
  CHECK(mask.count() == 2);
  CHECK(mask.to_ulong() == (1u << 10 | 1u << 7));
  CHECK((mask ^ StatusMask::sample_lost()) == StatusMask::data_available());
  CHECK((~mask & mask) == StatusMask::none());
  CHECK((~StatusMask::none()) == StatusMask::all());
  CHECK(StatusMask().set(7) == StatusMask::sample_lost());
  CHECK(StatusMask(mask).reset(7) == StatusMask::data_available());
  CHECK_THROWS_AS(mask.test(32), InvalidArgumentError);
  CHECK(status::SampleRejectedState::rejected_by_samples_limit() !=
        status::SampleRejectedState::not_rejected());
}

TEST_CASE("dds: policies are changed in place, and have ids and names", "[dds]") {
  dds::pub::qos::DataWriterQos qos;
  qos.policy<History>().depth(5);
  CHECK(qos.policy<History>().depth() == 5);
  CHECK(qos.native().history.depth == 5);
  qos->policy(History::KeepAll());
  CHECK(qos.policy<History>().kind() == HistoryKind::KEEP_ALL);
  History history;
  qos >> history;
  CHECK(history == History::KeepAll());
  CHECK(policy_id<History>::value == 13);
  CHECK(policy_name<History>::name() == "History");
  CHECK(policy_id<DurabilityService>::value == 22);
  CHECK(policy_name<UserData>::name() == "UserData");
  const dds::topic::qos::TopicQos topic = dds::topic::qos::TopicQos() << History::KeepAll();
  CHECK(dds::sub::qos::DataReaderQos(topic).policy<History>().kind() == HistoryKind::KEEP_ALL);
}

TEST_CASE("dds: filters have parameters", "[dds]") {
  std::vector<std::string> values{"2", "3"};
  dds::topic::Filter filter("v > %0 AND v < %1", values.begin(), values.end());
  CHECK(filter.parameters() == values);
  CHECK(filter.parameters_length() == 2);
  CHECK(std::vector<std::string>(filter.begin(), filter.end()) == values);
  filter.parameters(values.begin(), values.begin() + 1);
  filter.add_parameter("9");
  CHECK(filter.parameters() == StringSeq{"2", "9"});
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

TEST_CASE("dds: threads share a QosProvider", "[dds]") {
  const auto path = std::filesystem::temp_directory_path() / (dds_test::unique("shared-qos") + ".xml");
  std::ofstream(path)
      << "<dds><qos_library name=\"L\"><qos_profile name=\"P\"><datawriter_qos><history><depth>7"
         "</depth></history></datawriter_qos></qos_profile></qos_library></dds>";
  const QosProvider provider(path.string(), "L::P"), copy = provider;
  std::filesystem::remove(path);
  CHECK(copy == provider);
  CHECK_FALSE(copy == null);
  std::atomic<int> right_count{0};
  const auto ask = [&] {
    for (int round = 0; round < 50; ++round)
      if (copy.datawriter_qos().policy<History>().depth() == 7) ++right_count;
  };
  std::thread one(ask), other(ask);
  one.join();
  other.join();
  CHECK(right_count == 100);
  CHECK_THROWS_AS(QosProvider(null).datawriter_qos(), NullReferenceError);
}

TEST_CASE("dds: the default QosProvider is of the files that the environment names", "[dds]") {
  constexpr const char* variable = "LLAMADA_QOS_PROFILES";
  ::unsetenv(variable);
  CHECK(QosProvider::Default().datawriter_qos() == dds::pub::qos::DataWriterQos());
  CHECK_THROWS_AS(QosProvider::Default().datawriter_qos("L::P"), InvalidArgumentError);
  const auto folder = std::filesystem::temp_directory_path() / dds_test::unique("default-qos");
  std::filesystem::create_directory(folder);
  const auto profile = [&](const std::string& name, const std::string& policy) {
    std::ofstream(folder / (name + ".xml"))
        << "<dds><qos_library name=\"" << name << "\"><qos_profile name=\"P\"><datawriter_qos>" << policy
        << "</datawriter_qos></qos_profile></qos_library></dds>";
  };
  profile("A", "<history><kind>KEEP_ALL_HISTORY_QOS</kind></history>");
  profile("B", "<history><depth>7</depth></history>");
  ::setenv(variable, ((folder / "A.xml").string() + ";file://" + (folder / "B.xml").string()).c_str(), 1);
  CHECK(QosProvider::Default().datawriter_qos("A::P").policy<History>().kind() == HistoryKind::KEEP_ALL);
  CHECK(QosProvider::Default().datawriter_qos("B::P").policy<History>().depth() == 7);
  ::setenv(variable, ((folder / "B.xml").string() + ":" + (folder / "A.xml").string()).c_str(), 1);
  CHECK(QosProvider::Default().datawriter_qos("A::P").policy<History>().kind() == HistoryKind::KEEP_ALL);
  CHECK(QosProvider::Default().datawriter_qos("B::P").policy<History>().depth() == 7);
  ::setenv(variable, "/nowhere/at/all.xml", 1);
  CHECK_THROWS_AS(QosProvider::Default(), InvalidArgumentError);
  ::unsetenv(variable);
  std::filesystem::remove_all(folder);
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
