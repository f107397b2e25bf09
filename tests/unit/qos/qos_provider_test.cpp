#include "llamada/qos_xml/qos_provider.hpp"

#include <fstream>

#include "llamada/qos_xml/profile_file.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;
using namespace std::chrono_literals;

namespace {

QosProvider parsed(std::string_view text) {
  auto provider = QosProvider::parse(text, "x.xml");
  if (!provider) FAIL(provider.error().text());
  return std::move(*provider);
}

QosProvider of_profile(std::string_view inner) {
  return parsed(
      fmt::format("<qos_library name='L'><qos_profile name='P'>{}</qos_profile></qos_library>", inner));
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) FAIL(result.error().text());
  return std::move(*result);
}

template <typename T>
std::string error_of(const Result<T>& result) {
  return result ? "ok" : result.error().text();
}

/// Files of a test, which go with it.
class Folder : public test::TemporaryFolder {
 public:
  std::filesystem::path write(std::string_view name, std::string_view text) const {
    std::ofstream(path() / name) << text;
    return path() / name;
  }
};

constexpr std::string_view infinite =
    "<sec>DURATION_INFINITE_SEC</sec><nanosec>DURATION_INFINITE_NSEC</nanosec>";

}  // namespace

TEST_CASE("qos provider: reads every policy of a writer and its publisher", "[qos]") {
  const ResolvedQos qos = value_of(of_profile(R"(
    <datawriter_qos>
      <durability><kind>PERSISTENT_DURABILITY_QOS</kind></durability>
      <durability_service>
        <service_cleanup_delay><sec>5</sec><nanosec>1</nanosec></service_cleanup_delay>
        <history_kind>KEEP_LAST_HISTORY_QOS</history_kind><history_depth>9</history_depth>
        <max_samples>100</max_samples><max_instances>10</max_instances>
        <max_samples_per_instance>10</max_samples_per_instance>
      </durability_service>
      <deadline><period><sec>1</sec><nanosec>0</nanosec></period></deadline>
      <latency_budget><duration><nanosec>5000000</nanosec></duration></latency_budget>
      <liveliness><kind>MANUAL_BY_TOPIC_LIVELINESS_QOS</kind><lease_duration><sec>2</sec></lease_duration></liveliness>
      <reliability><kind>BEST_EFFORT_RELIABILITY_QOS</kind></reliability>
      <destination_order><kind>BY_SOURCE_TIMESTAMP_DESTINATIONORDER_QOS</kind></destination_order>
      <history><kind>KEEP_ALL_HISTORY_QOS</kind></history>
      <resource_limits><max_samples>7</max_samples><initial_samples>3</initial_samples></resource_limits>
      <transport_priority><value>4</value></transport_priority>
      <lifespan><duration><sec>3</sec></duration></lifespan>
      <user_data><value>00 fF10</value></user_data>
      <ownership><kind>EXCLUSIVE_OWNERSHIP_QOS</kind></ownership>
      <ownership_strength><value>12</value></ownership_strength>
      <writer_data_lifecycle><autodispose_unregistered_instances> false </autodispose_unregistered_instances></writer_data_lifecycle>
    </datawriter_qos>
    <publisher_qos>
      <presentation><access_scope>GROUP_PRESENTATION_QOS</access_scope><coherent_access>true</coherent_access>
        <ordered_access>1</ordered_access></presentation>
      <partition><name><element>a</element><element/><element>b*</element></name></partition>
      <group_data><value>1, 0x10,255</value></group_data>
      <entity_factory><autoenable_created_entities>false</autoenable_created_entities></entity_factory>
    </publisher_qos>)")
                                       .resolve());
  DataWriterQos writer;
  writer.durability.kind = DurabilityKind::persistent;
  writer.durability_service = {5s + 1ns, HistoryKind::keep_last, 9, 100, 10, 10};
  writer.deadline.period = 1s;
  writer.latency_budget.duration = 5ms;
  writer.liveliness = {LivelinessKind::manual_by_topic, 2s};
  writer.reliability.kind = ReliabilityKind::best_effort;
  writer.destination_order.kind = DestinationOrderKind::by_source_timestamp;
  writer.history.kind = HistoryKind::keep_all;
  writer.resource_limits.max_samples = 7;
  writer.transport_priority.value = 4;
  writer.lifespan.duration = 3s;
  writer.user_data.value = {std::byte{0}, std::byte{255}, std::byte{16}};
  writer.ownership.kind = OwnershipKind::exclusive;
  writer.ownership_strength.value = 12;
  writer.writer_data_lifecycle.autodispose_unregistered_instances = false;
  CHECK(qos.datawriter_qos == writer);
  PublisherQos publisher;
  publisher.presentation = {PresentationAccessScope::group, true, true};
  publisher.partition.name = {"a", "", "b*"};
  publisher.group_data.value = {std::byte{1}, std::byte{16}, std::byte{255}};
  publisher.entity_factory.autoenable_created_entities = false;
  CHECK(qos.publisher_qos == publisher);
  CHECK(qos.warnings ==
        std::vector<std::string>{"x.xml:16: qos_library[L]/qos_profile[P]/datawriter_qos/resource_limits/"
                                 "initial_samples: the element is another vendor's; it has no effect here"});
}

TEST_CASE("qos provider: reads every policy of a reader, a subscriber, a topic and a participant", "[qos]") {
  const ResolvedQos qos = value_of(of_profile(R"(
    <datareader_qos>
      <time_based_filter><minimum_separation><sec>1</sec></minimum_separation></time_based_filter>
      <reader_data_lifecycle>
        <autopurge_nowriter_samples_delay><sec>DURATION_ZERO_SEC</sec><nanosec>7</nanosec></autopurge_nowriter_samples_delay>
        <autopurge_disposed_samples_delay><sec>6</sec></autopurge_disposed_samples_delay>
      </reader_data_lifecycle>
      <user_data><value/></user_data>
    </datareader_qos>
    <subscriber_qos><partition><name/></partition><group_data><value>0x0a</value></group_data></subscriber_qos>
    <topic_qos><topic_data><value>0102</value></topic_data><lifespan><duration>)" +
                                              std::string(infinite) + R"(</duration></lifespan></topic_qos>
    <domain_participant_qos><user_data><value>aa</value></user_data></domain_participant_qos>)")
                                       .resolve());
  CHECK(qos.datareader_qos.time_based_filter.minimum_separation == 1s);
  CHECK(qos.datareader_qos.reader_data_lifecycle == ReaderDataLifecycle{7ns, 6s});
  CHECK(qos.datareader_qos.user_data.value.empty());
  CHECK(qos.subscriber_qos.partition == Partition{});
  CHECK(qos.subscriber_qos.group_data.value == std::vector<std::byte>{std::byte{10}});
  CHECK(qos.topic_qos.topic_data.value == std::vector<std::byte>{std::byte{1}, std::byte{2}});
  CHECK(qos.topic_qos.lifespan.duration == duration_infinite);
  CHECK(qos.domainparticipant_qos.user_data.value == std::vector<std::byte>{std::byte{0xaa}});
}

TEST_CASE("qos provider: bytes that are none are refused", "[qos]") {
  for (const char* text : {"0", "0g", "1,", ",1", "256,1", "0x100", "0x", "1 2 3", "1,,2"}) {
    INFO(text);
    auto qos =
        of_profile(
            fmt::format("<datareader_qos><user_data><value>{}</value></user_data></datareader_qos>", text))
            .datareader_qos();
    CHECK(error_of(qos) ==
          fmt::format(
              "x.xml:1: qos_library[L]/qos_profile[P]/datareader_qos/user_data/value: '{}' is not legal; "
              "legal: bytes as pairs of hexadecimal digits, '0a 0b', or as numbers with commas, '10, 0x0b'",
              text));
  }
}

TEST_CASE("qos provider: each value knows where it stands", "[qos]") {
  const ResolvedQos qos = value_of(parsed("<qos_library name='L'>\n"
                                          "<qos_profile name='A'><datawriter_qos>\n"
                                          "<history><kind>KEEP_LAST</kind>\n<depth>3</depth></history>\n"
                                          "</datawriter_qos></qos_profile>\n"
                                          "<qos_profile name='B' base_name='A'><datawriter_qos>\n"
                                          "<history>\n<depth>4</depth></history></datawriter_qos>\n"
                                          "<rank_replacement>\n<kind>ABORT</kind></rank_replacement>\n"
                                          "</qos_profile></qos_library>")
                                       .resolve({.profile = "B"}));
  CHECK(qos.datawriter_qos.history == History{HistoryKind::keep_last, 4});
  REQUIRE(qos.origins.size() == 3);
  CHECK(qos.origins.at("datawriter_qos.history.kind").line == 3);
  CHECK(qos.origins.at("datawriter_qos.history.depth").line == 8);
  CHECK(qos.origins.at("rank_replacement.kind").line == 10);
  CHECK(qos.origins.at("rank_replacement.kind").file == "x.xml");
}

TEST_CASE("qos provider: topic_filter chooses the first element that fits, else the one without", "[qos]") {
  const QosProvider provider = parsed(R"(<dds><qos_library name='L'>
    <qos_profile name='Base'>
      <datareader_qos><history><depth>2</depth></history></datareader_qos>
      <datareader_qos topic_filter='News*'><history><depth>20</depth></history><deadline><period><sec>9</sec></period></deadline></datareader_qos>
    </qos_profile>
    <qos_profile name='P' base_name='Base' is_default_qos='1'>
      <datareader_qos topic_filter='A*'><history><depth>3</depth></history></datareader_qos>
      <datareader_qos topic_filter=' AB* '><history><depth>4</depth></history></datareader_qos>
      <datareader_qos topic_filter='News*'><reliability><kind>RELIABLE</kind></reliability></datareader_qos>
    </qos_profile></qos_library></dds>)");
  auto depth = [&](std::optional<std::string> topic) {
    return value_of(provider.datareader_qos({.topic = topic})).history.depth;
  };
  CHECK(depth("ABC") == 3);
  CHECK(depth("Alpha") == 3);
  CHECK(depth("Beta") == 2);
  CHECK(depth(std::nullopt) == 2);
  // What fits in the profile is laid over what fits in its base.
  const DataReaderQos news = value_of(provider.datareader_qos({.topic = "NewsOfTheDay"}));
  CHECK(news.history.depth == 20);
  CHECK(news.deadline.period == 9s);
  CHECK(news.reliability.kind == ReliabilityKind::reliable);
}

TEST_CASE("qos provider: an entity's base_name goes before the profile's", "[qos]") {
  const QosProvider provider = parsed(R"(<dds>
    <qos_library name='A'>
      <datawriter_qos name='Strong'><ownership_strength><value>9</value></ownership_strength></datawriter_qos>
      <datawriter_qos name='Stronger' base_name='Strong'><lifespan><duration><sec>1</sec></duration></lifespan></datawriter_qos>
      <qos_profile name='Base'><datawriter_qos><ownership_strength><value>1</value></ownership_strength>
        <transport_priority><value>1</value></transport_priority></datawriter_qos></qos_profile>
    </qos_library>
    <qos_library name='B'>
      <qos_profile name='Own' base_name='A::Base'><datawriter_qos base_name='A::Stronger'>
        <user_data><value>01</value></user_data></datawriter_qos></qos_profile>
      <qos_profile name='Named'>
        <datawriter_qos name='first'><transport_priority><value>5</value></transport_priority></datawriter_qos>
        <datawriter_qos name='second' base_name='first'><lifespan><duration><sec>2</sec></duration></lifespan></datawriter_qos>
      </qos_profile>
      <qos_profile name='ByProfile'><datawriter_qos base_name='Own'/></qos_profile>
    </qos_library></dds>)");
  const DataWriterQos own = value_of(provider.datawriter_qos({.profile = "B::Own"}));
  CHECK(own.ownership_strength.value == 9);
  CHECK(own.lifespan.duration == 1s);
  CHECK(own.transport_priority.value == 0);
  CHECK(own.user_data.value.size() == 1);
  CHECK(value_of(provider.datawriter_qos({.profile = "ByProfile"})) == own);
  CHECK(value_of(provider.datawriter_qos({.profile = "A::Strong"})).ownership_strength.value == 9);
  const DataWriterQos second = value_of(provider.datawriter_qos({.profile = "B::Named::second"}));
  CHECK(second.lifespan.duration == 2s);
  CHECK(second.transport_priority.value == 5);
  CHECK(value_of(provider.datawriter_qos({.profile = "B::Named"})).transport_priority.value == 5);
  CHECK(error_of(provider.datareader_qos({.profile = "A::Strong"})) ==
        "x.xml: there is no profile 'A::Strong'; there are: A::Base, B::ByProfile, B::Named, B::Own");
}

TEST_CASE("qos provider: bases that are missing or go round in a circle are refused", "[qos]") {
  const QosProvider provider = parsed(R"(<qos_library name='L'>
<qos_profile name='A'><datawriter_qos base_name='B'/></qos_profile>
<qos_profile name='B' base_name='A'/>
<qos_profile name='C'><datawriter_qos name='x' base_name='y'/><datawriter_qos name='y' base_name='x'/></qos_profile>
<qos_profile name='D'><datawriter_qos base_name='Nobody'/></qos_profile>
<qos_profile name='E' base_name='F'/><qos_profile name='F' base_name='E'/>
</qos_library>)");
  CHECK(error_of(provider.datawriter_qos({.profile = "A"})) ==
        "x.xml:2: qos_library[L]/qos_profile[A]: a chain of base_name comes back to this qos_profile: it "
        "closes a circle");
  CHECK(error_of(provider.resolve({.profile = "C"})) ==
        "x.xml:4: qos_library[L]/qos_profile[C]/datawriter_qos[x]: a chain of base_name comes back to this "
        "datawriter_qos: it closes a circle");
  CHECK(error_of(provider.datawriter_qos({.profile = "D"})) ==
        "x.xml:5: qos_library[L]/qos_profile[D]/datawriter_qos: base_name 'Nobody' names no profile and no "
        "datawriter_qos here; there are: L::A, L::B, L::C, L::D, L::E, L::F");
  CHECK(error_of(provider.datareader_qos({.profile = "E"})).find("closes a circle") != std::string::npos);
  CHECK(error_of(provider.datareader_qos({.profile = "A"})) == "ok");
}

TEST_CASE("qos provider: a base may stand in another file", "[qos]") {
  const Folder folder;
  const auto base = folder.write("base.xml",
                                 "<qos_library name='Base'><qos_profile name='P'><datawriter_qos><history>"
                                 "<depth>5</depth></history></datawriter_qos></qos_profile></qos_library>");
  const auto own = folder.write("own.xml",
                                "<qos_library name='Own'><qos_profile name='P' base_name='Base::P'>"
                                "<datawriter_qos><lifespan><duration><sec>1</sec></duration></lifespan>"
                                "</datawriter_qos></qos_profile></qos_library>");
  folder.write("broken.xml", "<qos_library name='Base'><");
  auto check = [](Result<QosProvider> provider) {
    const DataWriterQos qos = value_of(value_of(std::move(provider)).datawriter_qos({.profile = "Own::P"}));
    CHECK(qos.history.depth == 5);
    CHECK(qos.lifespan.duration == 1s);
  };
  check(QosProvider::load(std::array{own, base}));
  check(QosProvider::load(std::array{base, own}));
  // Not named, but beside it.
  check(QosProvider::load(std::array{own}, std::array{folder.path()}));
  auto alone = value_of(QosProvider::load(std::array{own}, std::array{folder.path()}));
  CHECK(alone.profiles() == std::vector<std::string>{"Own::P"});
  CHECK(value_of(alone.resolve()).name == "Own::P");
  CHECK(value_of(alone.resolve()).origins.at("datawriter_qos.history.depth").file == base.string());
  CHECK(error_of(value_of(QosProvider::load(std::array{own})).resolve()) ==
        own.string() +
            ":1: qos_library[Own]/qos_profile[P]: base_name 'Base::P' names no profile in this file; there "
            "are: Own::P");
}

TEST_CASE("qos provider: a profile of ranks may build on one that comes with Llamada", "[qos]") {
  const Folder folder;
  const auto own =
      folder.write("mine.xml",
                   "<qos_library name='mine'><qos_profile name='big' base_name='llamada::fault_tolerant'>"
                   "<rank_replacement><log_bytes_per_node>16 GiB</log_bytes_per_node></rank_replacement>"
                   "</qos_profile></qos_library>");
  const std::filesystem::path installed[] = {LLAMADA_QOS_PROFILES};
  const Profile profile = value_of(find_profile(own.string(), installed));
  CHECK(profile.rank_replacement.kind == RankReplacementKind::rebuild);
  CHECK(profile.rank_replacement.log_bytes_per_node == 16ULL << 30);
}

TEST_CASE("qos provider: RTI's way of writing, and the send window", "[qos]") {
  const std::filesystem::path files[] = {std::filesystem::path(LLAMADA_QOS_FILES) / "send_window.xml"};
  const ResolvedQos qos = value_of(value_of(QosProvider::load(files)).resolve());
  CHECK(qos.name == "Worker_Library::Strict_Profile");
  CHECK(qos.datawriter_qos.reliability == Reliability{ReliabilityKind::reliable, 60s});
  CHECK(qos.datawriter_qos.history.kind == HistoryKind::keep_all);
  CHECK(qos.datawriter_qos.durability.kind == DurabilityKind::transient_local);
  CHECK(qos.datawriter_qos.send_window == SendWindow{20, 40});
  CHECK(qos.origins.at("datawriter_qos.send_window.max").line == 22);
  CHECK(qos.datareader_qos.reliability.kind == ReliabilityKind::reliable);
  REQUIRE(qos.warnings.size() == 2);
  CHECK(qos.warnings[1].find(
            "rtps_reliable_writer/heartbeats_per_max_samples: the element is another vendor's") !=
        std::string::npos);
  CHECK(qos.warnings[0].find("datawriter_qos/publish_mode: the element is another vendor's") !=
        std::string::npos);
  // A job of ranks starts with it, and replaces them.
  const auto ranks = load_profile(files[0]);
  REQUIRE(ranks);
  CHECK(ranks->datawriter_qos.send_window == SendWindow{20, 40});
  CHECK(ranks->rank_replacement.kind == RankReplacementKind::rebuild);
}

TEST_CASE("qos provider: a send window that is none is refused", "[qos]") {
  auto window = [](std::string_view inner) {
    return error_of(
        of_profile(fmt::format("<datawriter_qos><protocol><rtps_reliable_writer>{}</rtps_reliable_writer>"
                               "</protocol></datawriter_qos>",
                               inner))
            .datawriter_qos());
  };
  const std::string at =
      "x.xml:1: qos_library[L]/qos_profile[P]/datawriter_qos/protocol/rtps_reliable_writer";
  CHECK(window("<min_send_window_size>0</min_send_window_size>") ==
        at + ": SEND_WINDOW: min is 0; it must be at least 1 or LENGTH_UNLIMITED");
  CHECK(window("<max_send_window_size>4</max_send_window_size>") == "ok");
  CHECK(window(
            "<min_send_window_size>5</min_send_window_size><max_send_window_size>4</max_send_window_size>") ==
        at + ": SEND_WINDOW: min 5 is above max 4; lower min");
  CHECK(window("<min_send_windwo_size>1</min_send_windwo_size>") ==
        at + "/min_send_windwo_size: the element is not known here; legal: min_send_window_size, "
             "max_send_window_size; did you mean 'min_send_window_size'?");
  CHECK(window(
            "<min_send_window_size>3</min_send_window_size><max_send_window_size>3</max_send_window_size>") ==
        "ok");
}

TEST_CASE("qos provider: errors of values, entities and snippets", "[qos]") {
  auto writer = [](std::string_view inner) {
    return error_of(of_profile(fmt::format("<datawriter_qos>{}</datawriter_qos>", inner)).datawriter_qos());
  };
  const std::string at = "x.xml:1: qos_library[L]/qos_profile[P]";
  CHECK(writer("<deadlin/>") ==
        at +
            "/datawriter_qos/deadlin: the element is not known here; legal: durability, durability_service, "
            "deadline, latency_budget, liveliness, reliability, destination_order, history, resource_limits, "
            "transport_priority, lifespan, user_data, ownership, ownership_strength, writer_data_lifecycle, "
            "protocol, base_name, property, entity_name, publication_name; did you mean 'deadline'?");
  CHECK(writer("<ownership><kind>EXCLUSIV_OWNERSHIP_QOS</kind></ownership>") ==
        at + "/datawriter_qos/ownership/kind: 'EXCLUSIV_OWNERSHIP_QOS' is not legal; legal: SHARED, "
             "EXCLUSIVE; did "
             "you mean 'EXCLUSIVE'?");
  CHECK(writer("<deadline><period><sec>0</sec></period></deadline>") ==
        at + "/datawriter_qos/deadline: DEADLINE: period is 0 s; it must be above 0");
  CHECK(writer("<history><depth>3</depth></history><resource_limits><max_samples>2</max_samples></"
               "resource_limits>") == at + ": datawriter_qos: HISTORY: KEEP_LAST with depth 3 does not fit "
                                           "RESOURCE_LIMITS max_samples 2; lower "
                                           "depth or raise max_samples");
  CHECK(
      error_of(of_profile("<publisher_qos><partition><name><elem>a</elem></name></partition></publisher_qos>")
                   .publisher_qos()) ==
      at + "/publisher_qos/partition/name/elem: the element is not known here; legal: element");
  CHECK(error_of(of_profile("<qos_snippets/>").resolve()) ==
        at + "/qos_snippets: snippets are not built; write the policies where they are to stand");
  CHECK(error_of(of_profile("<datawriter_qos/><datawriter_qos/>").resolve()) ==
        at + "/datawriter_qos: the element stands here for the second time; it may stand once");
  CHECK(error_of(of_profile("<domainparticipant_qos/><participant_qos/>").resolve()) ==
        at + "/participant_qos: the element stands here for the second time; it may stand once");
  // One entity's mistake is no other's.
  CHECK(error_of(of_profile("<datawriter_qos><deadlin/></datawriter_qos>").datareader_qos()) == "ok");
}
