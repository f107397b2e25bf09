#include <cstdlib>
#include <filesystem>

#include "llamada/qos_xml/qos_provider.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;
using namespace std::chrono_literals;

// Files as users of RTI Connext, Fast DDS, Cyclone DDS and the OMG's DDS-XML write them.

namespace {

Result<ResolvedQos> resolved(std::string_view file) {
  const std::filesystem::path files[] = {std::filesystem::path(LLAMADA_QOS_FILES) / "vendors" / file};
  auto provider = QosProvider::load(files);
  if (!provider) return propagate(provider);
  return provider->resolve();
}

ResolvedQos read(std::string_view file) {
  auto qos = resolved(file);
  if (!qos) FAIL(qos.error().text());
  return std::move(*qos);
}

std::string error_of(const Result<ResolvedQos>& result) { return result ? "ok" : result.error().text(); }

Result<ResolvedQos> of_text(std::string_view text) {
  auto provider = QosProvider::parse(text, "x.xml");
  if (!provider) return propagate(provider);
  return provider->resolve();
}

Result<ResolvedQos> of_profile(std::string_view inner, std::string_view attributes = {}) {
  return of_text(fmt::format("<qos_library name='L'><qos_profile name='P' {}>{}</qos_profile></qos_library>",
                             attributes, inner));
}

Result<ResolvedQos> of_writer(std::string_view inner) {
  return of_profile(fmt::format("<datawriter_qos>{}</datawriter_qos>", inner));
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Whether one of the warnings has the line and the part.
bool warns(const ResolvedQos& qos, int line, std::string_view part) {
  return std::any_of(qos.warnings.begin(), qos.warnings.end(), [&](const std::string& each) {
    return has(each, fmt::format(".xml:{}: ", line)) && has(each, part);
  });
}

}  // namespace

TEST_CASE("vendors: a file of RTI Connext is read, with warnings where it has no effect", "[qos]") {
  const ResolvedQos qos = read("rti.xml");
  CHECK(qos.name == "Plant::Alarms");
  CHECK(qos.datawriter_qos.history.kind == HistoryKind::keep_all);
  CHECK(qos.datareader_qos.history.kind == HistoryKind::keep_all);
  CHECK(qos.datareader_qos.reliability.kind == ReliabilityKind::reliable);
  CHECK(qos.datawriter_qos.resource_limits.max_samples == length_unlimited);
  CHECK(qos.datawriter_qos.liveliness.lease_duration == duration_infinite);
  CHECK(qos.warnings.size() == 4);
  CHECK(warns(qos, 6, "built-in profile of RTI Connext; here it sets RELIABLE and KEEP_ALL only"));
  CHECK(warns(qos, 9, "initial_samples: the element is another vendor's"));
  CHECK(warns(qos, 10, "heartbeat_period: the element is another vendor's"));
  CHECK(warns(qos, 12, "transport_builtin: the element is another vendor's"));
}

TEST_CASE("vendors: of several base profiles a later one goes before an earlier one", "[qos]") {
  const ResolvedQos qos = read("rti_bases.xml");
  CHECK(qos.datawriter_qos.reliability.kind == ReliabilityKind::reliable);
  CHECK(qos.datawriter_qos.durability.kind == DurabilityKind::transient_local);
  CHECK(qos.datawriter_qos.history == History{HistoryKind::keep_last, 10});
  CHECK(qos.datareader_qos.history == History{HistoryKind::keep_last, 1});
  CHECK(qos.datareader_qos.ownership.kind == OwnershipKind::exclusive);
  CHECK(warns(qos, 7,
              "'BuiltinQosSnippetLib::Feature.Monitoring.Enable' is a built-in profile of RTI Connext; here "
              "it sets no policy"));
}

TEST_CASE("vendors: two ways to one base profile are no circle, a way back is one", "[qos]") {
  const std::string profiles =
      "<qos_profile "
      "name='A'><datawriter_qos><history><depth>4</depth></history></datawriter_qos></qos_profile>"
      "<qos_profile name='B' base_name='A'/><qos_profile name='C' base_name='A'>"
      "<datawriter_qos><durability><kind>TRANSIENT_LOCAL</kind></durability></datawriter_qos></qos_profile>"
      "<qos_profile name='D' is_default_qos='true' base_name='B'><base_name><element>C</element></base_name>"
      "</qos_profile>";
  const auto qos = of_text("<qos_library name='L'>" + profiles + "</qos_library>");
  REQUIRE(qos);
  CHECK(qos->datawriter_qos.history.depth == 4);
  CHECK(qos->datawriter_qos.durability.kind == DurabilityKind::transient_local);
  CHECK(has(error_of(of_profile("<base_name><element>P</element></base_name>")), "closes a circle"));
  std::string wide = "<qos_library name='L'><qos_profile name='P0'/>";
  for (int i = 1; i < 40; ++i) {
    wide += fmt::format(
        "<qos_profile name='P{0}' is_default_qos='{1}'><base_name><element>P{2}</element>"
        "<element>P{2}</element></base_name></qos_profile>",
        i, i == 39, i - 1);
  }
  CHECK(has(error_of(of_text(wide + "</qos_library>")), "is longer than 32 profiles"));
}

TEST_CASE("vendors: an entity's element may have a list of bases", "[qos]") {
  const auto qos = of_writer(
      "<base_name><element>BuiltinQosSnippetLib::QosPolicy.History.KeepAll</element>"
      "<element>BuiltinQosSnippetLib::QosPolicy.Reliability.BestEffort</element></base_name>");
  REQUIRE(qos);
  CHECK(qos->datawriter_qos.history.kind == HistoryKind::keep_all);
  CHECK(qos->datawriter_qos.reliability.kind == ReliabilityKind::best_effort);
  CHECK(qos->warnings.size() == 2);
}

TEST_CASE("vendors: a built-in profile whose policies are not known is refused", "[qos]") {
  for (const char* name :
       {"BuiltinQosLib::Pattern.AlarmEvent", "BuiltinQosLib::Generic.KeepLastReliable.Persistent",
        "BuiltinQosLibExp::Baselines", "BuiltinQosSnippetLib::QosPolicy.Durability.Transient"}) {
    INFO(name);
    CHECK(has(
        error_of(of_profile("", fmt::format("base_name='{}'", name))),
        "is a built-in profile of RTI Connext whose policies are not known here; write its policies out"));
  }
  CHECK(error_of(of_profile("", "base_name='BuiltinQosLib::Generic.KeepLastReliable.LargeData'")) == "ok");
}

TEST_CASE("vendors: files without QoS of topics are refused by their vendor's name", "[qos]") {
  CHECK(has(error_of(resolved("cyclone.xml")),
            "cyclone.xml:2: CycloneDDS: this is Cyclone DDS's configuration of network"));
  CHECK(has(error_of(of_text("<OpenSplice/>")), "this is OpenSplice's configuration"));
  CHECK(has(error_of(of_text("<dds><domain_access_rules/></dds>")),
            "this is a governance file of DDS Security"));
}

TEST_CASE("vendors: profiles of Fast DDS are read, with warnings where they have no effect", "[qos]") {
  const std::filesystem::path files[] = {std::filesystem::path(LLAMADA_QOS_FILES) / "vendors/fast_dds.xml"};
  const auto provider = QosProvider::load(files);
  REQUIRE(provider);
  CHECK(provider->profiles() == std::vector<std::string>{"profiles::node", "profiles::alarms",
                                                         "profiles::slow", "profiles::limited",
                                                         "profiles::default"});
  const auto found = provider->resolve();
  REQUIRE(found);
  const ResolvedQos& qos = *found;
  const DataWriterQos& writer = qos.datawriter_qos;
  CHECK(writer.history.kind == HistoryKind::keep_all);
  CHECK(writer.resource_limits.max_samples == 50);
  CHECK(writer.resource_limits.max_instances == length_unlimited);
  CHECK(writer.reliability.max_blocking_time == 1s);
  CHECK(writer.latency_budget.duration == 500ns);
  CHECK(writer.liveliness.lease_duration == duration_infinite);
  // What the file leaves out has Fast DDS's default.
  CHECK(writer.durability.kind == DurabilityKind::transient_local);
  CHECK(qos.datareader_qos.durability.kind == DurabilityKind::volatile_);
  CHECK(qos.datareader_qos.reliability.kind == ReliabilityKind::reliable);
  CHECK(qos.publisher_qos.partition.name == std::vector<std::string>{"east", "west"});
  CHECK(qos.subscriber_qos.partition.name.empty());
  CHECK(qos.domainparticipant_qos.user_data.value ==
        std::vector<std::byte>{std::byte{1}, std::byte{10}, std::byte{255}});
  for (const auto& [line, element] : std::vector<std::pair<int, std::string>>{
           {4, "dds/profiles/transport_descriptors: "},
           {6, "dds/profiles/participant[node]/domainId: "},
           {7, "dds/profiles/participant[node]/rtps/name: "},
           {11, "dds/profiles/data_writer[alarms]/topic/kind: "},
           {13, "resourceLimitsQos/allocated_samples: "},
           {18, "data_writer[alarms]/qos/liveliness/announcement_period: "},
           {20, "data_writer[alarms]/qos/publishMode: "},
           {22, "data_writer[alarms]/historyMemoryPolicy: "}}) {
    INFO(element);
    CHECK(warns(qos, line, element + "the element is another vendor's; it has no effect here"));
  }
  CHECK(qos.warnings.size() == 8);
  const auto slow = provider->resolve({.profile = "slow"});
  REQUIRE(slow);
  CHECK(slow->datareader_qos.history == History{HistoryKind::keep_last, 20});
  const auto limited = provider->resolve({.profile = "limited"});
  REQUIRE(limited);
  CHECK(limited->topic_qos.resource_limits.max_samples == length_unlimited);
}

TEST_CASE("vendors: errors in profiles of Fast DDS name the elements that the file has", "[qos]") {
  const auto of_profiles = [](std::string_view inner) {
    return error_of(of_text(fmt::format("<profiles>\n{}</profiles>", inner)));
  };
  const auto of_qos = [&](std::string_view inner) {
    return of_profiles(fmt::format("<data_writer profile_name='a'>\n<qos>\n{}</qos></data_writer>", inner));
  };
  CHECK(of_profiles("<data_writer profile_name='a'/>") == "ok");
  CHECK(has(of_qos("<durability><kind>SOLID</kind></durability>"),
            "x.xml:4: profiles/data_writer[a]/qos/durability/kind: 'SOLID' is not legal; legal: VOLATILE"));
  CHECK(has(of_qos("<reliablity/>"),
            "x.xml:4: profiles/data_writer[a]/qos/reliablity: the element is not known"));
  CHECK(has(of_qos("<durability><kind>PERSISTENT</kind></durability><durability/>"), "for the second time"));
  CHECK(has(of_profiles("<data_writer/>"),
            "x.xml:2: profiles/data_writer: attribute 'profile_name' is missing"));
  CHECK(has(of_profiles("<data_writer profile_name='a' name='b'/>"), "attribute 'name' is not known here"));
  CHECK(has(of_profiles("<data_writer profile_name='a'>text</data_writer>"), "'text' stands where only"));
  CHECK(has(of_profiles("<data_writer profile_name='a'><topic>text</topic></data_writer>"), "'text' stands"));
  CHECK(has(of_profiles("<data_writer profile_name='a'><qos/><qos/></data_writer>"), "for the second time"));
  CHECK(has(of_profiles("<datawriter profile_name='a'/>"), "did you mean 'data_writer'?"));
  CHECK(has(of_profiles("<data_writer profile_name='a' is_default_profile='yes'/>"),
            "is_default_profile 'yes' is not legal"));
  CHECK(has(of_profiles("<data_writer profile_name='a' is_default_profile='true'/>"
                        "<publisher profile_name='b' is_default_profile='true'/>"),
            "is_default_profile is true here and for 'a'"));
}

TEST_CASE("vendors: what would change what programs see is refused, or warned of", "[qos]") {
  CHECK(has(error_of(resolved("cyclone_qos.xml")),
            "cyclone_qos.xml:13: dds/qos_library[plant]/qos_profile[valves]/datareader_qos/ignorelocal: "
            "Cyclone DDS's "
            "ignorelocal is not supported"));
  const auto qos = of_writer(
      "<entity_name><name>x</name></entity_name><ignorelocal><kind>NONE</kind></ignorelocal>"
      "<psmx_instances/><reliability><acknowledgment_kind>PROTOCOL_ACKNOWLEDGMENT_MODE</acknowledgment_kind>"
      "</reliability>");
  REQUIRE(qos);
  CHECK(qos->warnings.size() == 3);
  CHECK(qos->entity_names.size() == 1);
  CHECK(has(error_of(of_writer("<reliability><acknowledgment_kind>APPLICATION_AUTO_ACKNOWLEDGMENT_MODE"
                               "</acknowledgment_kind></reliability>")),
            "RTI Connext's acknowledgment by the application is not supported"));
  CHECK(has(error_of(of_profile("<publisher_qos><presentation><access_scope>HIGHEST_OFFERED_PRESENTATION_QOS"
                                "</access_scope></presentation></publisher_qos>")),
            "HIGHEST_OFFERED is RTI Connext's; write"));
  CHECK(has(error_of(of_writer("<deadline><period><sec>DURATION_AUTO_SEC</sec></period></deadline>")),
            "DURATION_AUTO is RTI Connext's; write"));
}

TEST_CASE("vendors: prefixes of namespaces are read through", "[qos]") {
  const ResolvedQos qos = read("omg.xml");
  CHECK(qos.datareader_qos.reliability.kind == ReliabilityKind::reliable);
  CHECK(qos.warnings.empty());
}

TEST_CASE("vendors: infinite durations in each vendor's words", "[qos]") {
  const ResolvedQos qos = read("infinite.xml");
  CHECK(qos.datawriter_qos.lifespan.duration == duration_infinite);
  CHECK(qos.datawriter_qos.deadline.period == duration_infinite);
  CHECK(qos.datawriter_qos.reliability.max_blocking_time == duration_infinite);
  CHECK(
      has(error_of(of_writer("<lifespan><duration><sec>1</sec><nanosec>DURATION_INFINITY</nanosec></duration>"
                             "</lifespan>")),
          "nanosec is infinite and sec is not"));
}

TEST_CASE("vendors: names may have '-', blanks and any letters, and are printed as they are", "[qos]") {
  CHECK(read("names.xml").name == "Prüf-Stand::schnelle-Größe");
  CHECK(
      error_of(of_profile("<größe/>")) ==
      "x.xml:1: qos_library[L]/qos_profile[P]/größe: the element is not known here; legal: rank_replacement, "
      "datawriter_qos, datareader_qos, topic_qos, publisher_qos, subscriber_qos, domainparticipant_qos, "
      "domain_participant_qos, participant_qos, base_name");
  CHECK(has(error_of(of_text("<qos_library name='a:b'/>")), "'a:b' is not a name"));
  CHECK(has(error_of(of_text("<qos_library name=' a'/>")), "' a' is not a name"));
  CHECK(has(error_of(of_text("<qos_library name='a\u202eb'/>")), "'a\\xe2\\x80\\xaeb' is not a name"));
  CHECK(error_of(of_text("<dds>\n<!-- gr\xf6\xdf --> </dds>")) ==
        "x.xml:2: the byte 0xf6 is not UTF-8; save the file in UTF-8");
}

TEST_CASE("vendors: a document type is refused, wherever a declaration of XML may stand", "[qos]") {
  CHECK(has(error_of(resolved("doctype.xml")),
            "doctype.xml:3: a document type declaration (<!DOCTYPE>) is refused"));
  CHECK(error_of(
            of_text("<!-- first --><?xml version='1.0'?><qos_library name='L'><?x y?><qos_profile name='P'/>"
                    "</qos_library>")) == "ok");
  CHECK(error_of(of_writer("<user_data><value><![CDATA[0a]]></value></user_data>")) == "ok");
}

TEST_CASE("vendors: LLAMADA_QOS_PROFILES lists the files of the default provider", "[qos]") {
  using Paths = std::vector<std::filesystem::path>;
  CHECK(profile_files_of("") == Paths{});
  CHECK(profile_files_of("a.xml") == Paths{"a.xml"});
  CHECK(profile_files_of("/x/a.xml:b.xml;;file:///y/c.xml:") == Paths{"/x/a.xml", "b.xml", "/y/c.xml"});
  const std::string folder = std::string(LLAMADA_QOS_FILES) + "/vendors/";
  ::unsetenv("LLAMADA_QOS_PROFILES");
  const auto none = QosProvider::load_default();
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == Errc::not_found);
  CHECK(has(none.error().text(), "LLAMADA_QOS_PROFILES lists no file; set it to the profile files"));
  ::setenv("LLAMADA_QOS_PROFILES", (folder + "names.xml:" + folder + "infinite.xml").c_str(), 1);
  const auto provider = QosProvider::load_default();
  ::unsetenv("LLAMADA_QOS_PROFILES");
  REQUIRE(provider);
  CHECK(provider->profiles() == std::vector<std::string>{"Prüf-Stand::langsame Ventile",
                                                         "Prüf-Stand::schnelle-Größe", "plant::valves"});
}
