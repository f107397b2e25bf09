#include "llamada/qos/rank_protection.hpp"
#include "llamada/qos/serialization.hpp"
#include "llamada/qos_xml/profile_file.hpp"
#include "profiles.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;
using namespace std::chrono_literals;

namespace {

Profile parsed(std::string_view text, std::optional<std::string_view> name = std::nullopt) {
  auto profile = parse_profile(text, "x.xml", name);
  if (!profile) FAIL(profile.error().text());
  return std::move(*profile);
}

Profile with(std::string_view inner) {
  return parsed(fmt::format(
      "<dds><qos_library name='L'><qos_profile name='P'>{}</qos_profile></qos_library></dds>", inner));
}

DataWriterQos writer_with(std::string_view inner) {
  return with(fmt::format("<datawriter_qos>{}</datawriter_qos>", inner)).datawriter_qos;
}

Duration blocking(std::string_view inner) {
  return writer_with(
             fmt::format("<reliability><max_blocking_time>{}</max_blocking_time></reliability>", inner))
      .reliability.max_blocking_time;
}

std::uint64_t log_bytes(std::string_view text) {
  return with(fmt::format("<rank_replacement><log_bytes_per_node>{}</log_bytes_per_node></rank_replacement>",
                          text))
      .rank_replacement.log_bytes_per_node;
}

Duration standby_interval(std::string_view text) {
  constexpr std::string_view ends =
      "<datawriter_qos>{0}</datawriter_qos><datareader_qos>{0}</datareader_qos><rank_replacement>"
      "<standby_interval>{1}</standby_interval></rank_replacement>";
  constexpr std::string_view keeps =
      "<reliability><kind>RELIABLE</kind></reliability><durability><kind>TRANSIENT_LOCAL</kind></durability>"
      "<history><kind>KEEP_ALL</kind></history>";
  return with(fmt::format(ends, keeps, text)).rank_replacement.standby_interval;
}

}  // namespace

TEST_CASE("xml: standby_interval is seconds, auto or off", "[qos]") {
  using std::chrono::milliseconds;
  CHECK(standby_interval("30") == milliseconds(30'000));
  CHECK(standby_interval("0.25") == milliseconds(250));
  CHECK(standby_interval("auto") == standby_automatic);
  CHECK(standby_interval("off") == standby_off);
  CHECK(standby_to_string(standby_automatic) == "auto");
  CHECK(standby_to_string(standby_off) == "off");
  CHECK(standby_to_string(milliseconds(30'000)) == "30 s");
}

TEST_CASE("xml: the profiles that come with it say what their README says", "[qos]") {
  const std::filesystem::path folder = LLAMADA_QOS_PROFILES;
  auto fault = load_profile(folder / "fault-tolerant.xml");
  REQUIRE(fault);
  Profile expected = fault_tolerant();
  expected.name = "llamada::fault_tolerant";
  CHECK(*fault == expected);
  CHECK(check_for_ranks(*fault));
  auto long_jobs = load_profile(folder / "fault-tolerant-long.xml");
  REQUIRE(long_jobs);
  expected.name = "llamada::fault_tolerant_long";
  expected.rank_replacement.log_bytes_at_start = expected.rank_replacement.log_bytes_per_node;
  CHECK(*long_jobs == expected);
  auto on_disk = load_profile(folder / "fault-tolerant-disk.xml");
  REQUIRE(on_disk);
  expected = fault_tolerant();
  expected.name = "llamada::fault_tolerant_disk";
  expected.rank_replacement.log_directory = "/var/tmp";
  expected.rank_replacement.log_bytes_per_node = 64ULL << 30;
  CHECK(*on_disk == expected);
  CHECK(check_for_ranks(*on_disk));
  auto of_hours = load_profile(folder / "long.xml");
  REQUIRE(of_hours);
  expected.name = "llamada::long";
  expected.rank_replacement.standby_interval = standby_automatic;
  CHECK(*of_hours == expected);
  CHECK(check_for_ranks(*of_hours));
  auto on_nodes = load_profile(folder / "node-fault-tolerant.xml");
  REQUIRE(on_nodes);
  CHECK(rank_protection(*on_nodes).outlives_nodes);
  CHECK_FALSE(rank_protection(*on_nodes).outlives_job);
  CHECK(check_for_ranks(*on_nodes));
  auto persistent = load_profile(folder / "persistent.xml");
  REQUIRE(persistent);
  CHECK(rank_protection(*persistent).outlives_job);
  CHECK(rank_protection(*persistent).outlives_nodes);
  CHECK(check_for_ranks(*persistent));
  auto plain = load_profile(folder / "default.xml");
  REQUIRE(plain);
  CHECK(plain->name == "llamada::default");
  CHECK(plain->rank_replacement == RankReplacement{});
  CHECK(plain->datawriter_qos.durability.kind == DurabilityKind::volatile_);
  CHECK(check_for_ranks(*plain));
  CHECK(deserialize(serialize(*fault)).value() == *fault);
}

TEST_CASE("xml: an empty profile has the standard's defaults", "[qos]") {
  Profile expected;
  expected.name = "L::P";
  CHECK(with("") == expected);
}

TEST_CASE("xml: reads every enforced policy, with either spelling of its kinds", "[qos]") {
  const DataWriterQos qos = writer_with(
      "<history><kind>KEEP_ALL_HISTORY_QOS</kind><depth>5</depth></history>"
      "<reliability><kind> RELIABLE_RELIABILITY_QOS </kind></reliability><!-- a comment -->"
      "<durability><kind>TRANSIENT_LOCAL_DURABILITY_QOS</kind></durability>"
      "<liveliness><kind>MANUAL_BY_TOPIC_LIVELINESS_QOS</kind><lease_duration><sec>DURATION_INFINITE_SEC</"
      "sec>"
      "<nanosec>DURATION_INFINITE_NSEC</nanosec></lease_duration></liveliness>"
      "<resource_limits><max_samples>7</max_samples><max_instances>LENGTH_UNLIMITED</max_instances>"
      "<max_samples_per_instance>7</max_samples_per_instance></resource_limits>");
  CHECK(qos.history == History{HistoryKind::keep_all, 5});
  CHECK(qos.reliability.kind == ReliabilityKind::reliable);
  CHECK(qos.durability.kind == DurabilityKind::transient_local);
  CHECK(qos.liveliness == Liveliness{LivelinessKind::manual_by_topic, duration_infinite});
  CHECK(qos.resource_limits == ResourceLimits{7, length_unlimited, 7});
  CHECK(writer_with("<history><depth>3</depth></history>").history == History{HistoryKind::keep_last, 3});
  const Profile reader =
      with("<datareader_qos><reliability><kind>RELIABLE</kind></reliability></datareader_qos>");
  CHECK(reader.datareader_qos.reliability.kind == ReliabilityKind::reliable);
}

TEST_CASE("xml: reads rank_replacement", "[qos]") {
  const RankReplacement policy =
      with(
          "<rank_replacement><kind>ABORT</kind><max_replacements_per_rank>0</max_replacements_per_rank>"
          "<max_replacements_per_job>4294967295</max_replacements_per_job>"
          "<log_bytes_per_node>64MiB</log_bytes_per_node><log_bytes_at_start>48 MiB</log_bytes_at_start>"
          "<on_unprotected>STOP</on_unprotected></rank_replacement>")
          .rank_replacement;
  CHECK(policy ==
        RankReplacement{RankReplacementKind::abort, 0, 0xffffffff, 64 << 20, 48 << 20, OnUnprotected::stop});
}

TEST_CASE("xml: log_directory is a path, and may be empty", "[qos]") {
  const auto directory = [](std::string_view text) {
    const std::string ends =
        "<reliability><kind>RELIABLE</kind></reliability><history><kind>KEEP_ALL</kind></history>"
        "<durability><kind>TRANSIENT_LOCAL</kind></durability>";
    return with(fmt::format("<datawriter_qos>{0}</datawriter_qos><datareader_qos>{0}</datareader_qos>"
                            "<rank_replacement><log_directory>{1}</log_directory></rank_replacement>",
                            ends, text))
        .rank_replacement.log_directory;
  };
  CHECK(directory(" /scratch/of us\n") == "/scratch/of us");
  CHECK(directory("").empty());
}

TEST_CASE("xml: sizes are bytes or have a binary suffix", "[qos]") {
  CHECK(log_bytes("1") == 1);
  CHECK(log_bytes("3 KiB") == 3072);
  CHECK(log_bytes("8GiB") == 8ULL << 30);
  CHECK(log_bytes("9223372036854775807") == 9223372036854775807);
  CHECK(log_bytes("8589934591GiB") == 8589934591ULL << 30);
}

TEST_CASE("xml: durations are seconds and nanoseconds, or infinite", "[qos]") {
  CHECK(blocking("<sec>1</sec><nanosec>500000000</nanosec>") == 1500ms);
  CHECK(blocking("<nanosec>999999999</nanosec>") == 999999999ns);
  CHECK(blocking("<sec>0</sec>") == 0ns);
  CHECK(blocking("<sec>2147483647</sec><nanosec>0</nanosec>") == 2147483647s);
  CHECK(blocking("<sec>2147483647</sec><nanosec>2147483647</nanosec>") == duration_infinite);
  CHECK(blocking("<sec>DURATION_INFINITY</sec><nanosec>DURATION_INFINITY</nanosec>") == duration_infinite);
  CHECK(blocking("<sec>DURATION_INFINITY</sec>") == duration_infinite);
}

TEST_CASE("xml: a policy that is not enforced may stand there with its default", "[qos]") {
  const std::string infinite = "<sec>DURATION_INFINITY</sec><nanosec>DURATION_INFINITY</nanosec>";
  CHECK(writer_with("<deadline><period>" + infinite + "</period></deadline><lifespan><duration>" + infinite +
                    "</duration></lifespan><ownership><kind>SHARED_OWNERSHIP_QOS</kind></ownership>"
                    "<ownership_strength><value>0</value></ownership_strength><user_data><value/></user_data>"
                    "<latency_budget><duration><sec>0</sec></duration></latency_budget>"
                    "<writer_data_lifecycle><autodispose_unregistered_instances>true"
                    "</autodispose_unregistered_instances></writer_data_lifecycle>") == DataWriterQos{});
  CHECK(with("<publisher_qos><partition><name/></partition></publisher_qos><topic_qos><reliability>"
             "<kind>BEST_EFFORT</kind></reliability></topic_qos><domainparticipant_qos/>")
            .datawriter_qos == DataWriterQos{});
}

TEST_CASE("xml: a profile inherits child element by child element, also from another library", "[qos]") {
  const std::string_view text = R"(<?xml version="1.0" encoding="UTF-8"?>
    <dds xmlns="http://www.omg.org/spec/DDS-XML" xmlns:xsi="x" xsi:schemaLocation="y">
      <qos_library name="A">
        <qos_profile name="Child" base_name="Base">
          <datawriter_qos><history><depth>2</depth></history></datawriter_qos>
        </qos_profile>
        <qos_profile name="Base" base_name="B::Root">
          <datawriter_qos><durability><kind>TRANSIENT_LOCAL</kind></durability></datawriter_qos>
        </qos_profile>
      </qos_library>
      <qos_library name="B">
        <qos_profile name="Root"><datawriter_qos>
          <history><kind>KEEP_LAST</kind><depth>9</depth></history><durability><kind>VOLATILE</kind></durability>
        </datawriter_qos></qos_profile>
        <qos_profile name="Grandchild" base_name="::A::Child" is_default_qos="true"/>
      </qos_library>
    </dds>)";
  const Profile profile = parsed(text);
  CHECK(profile.name == "B::Grandchild");
  CHECK(profile.datawriter_qos.history == History{HistoryKind::keep_last, 2});
  CHECK(profile.datawriter_qos.durability.kind == DurabilityKind::transient_local);
  CHECK(parsed(text, "Root").datawriter_qos.history.depth == 9);
  CHECK(parsed(text, "A::Base").name == "A::Base");
  CHECK(parsed(text, "::A::Base").name == "A::Base");
}

TEST_CASE("xml: a bare qos_library is a root, too", "[qos]") {
  CHECK(parsed("<qos_library name='L'><qos_profile name='P'/></qos_library>").name == "L::P");
}

TEST_CASE("xml: of profiles that were not asked for only the frame is looked at", "[qos]") {
  CHECK(parsed("<qos_library name='L'><qos_profile name='P'/><qos_profile name='Q'><other/></qos_profile>"
               "</qos_library>",
               "P")
            .name == "L::P");
}

TEST_CASE("xml: CDATA and comments within a text do no harm", "[qos]") {
  CHECK(writer_with("<history><kind>KEEP<!-- x -->_<![CDATA[ALL]]></kind></history>").history.kind ==
        HistoryKind::keep_all);
}
