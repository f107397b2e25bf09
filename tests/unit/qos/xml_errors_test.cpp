#include "llamada/qos_xml/profile_file.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::qos;

namespace {

std::string error_of(std::string_view text, std::optional<std::string_view> name = std::nullopt) {
  auto profile = parse_profile(text, "x.xml", name);
  return profile ? "ok" : profile.error().text();
}

/// The error of what stands in a profile, without the "x.xml:1: dds/qos_library[L]/qos_profile[P]".
std::string within_profile(std::string_view inner) {
  const std::string text = error_of(fmt::format(
      "<dds><qos_library name='L'><qos_profile name='P'>{}</qos_profile></qos_library></dds>", inner));
  constexpr std::string_view where = "x.xml:1: dds/qos_library[L]/qos_profile[P]";
  return text.starts_with(where) ? text.substr(where.size()) : text;
}

std::string within_writer(std::string_view inner) {
  const std::string text = within_profile(fmt::format("<datawriter_qos>{}</datawriter_qos>", inner));
  constexpr std::string_view where = "/datawriter_qos";
  return text.starts_with(where) ? text.substr(where.size()) : text;
}

std::string blocking(std::string_view inner) {
  return within_writer(
      fmt::format("<reliability><max_blocking_time>{}</max_blocking_time></reliability>", inner));
}

std::string library(std::string_view inner) {
  return error_of(fmt::format("<qos_library name='L'>{}</qos_library>", inner));
}

}  // namespace

TEST_CASE("xml errors: name file, line, element, the legal values and the nearest", "[qos]") {
  CHECK(error_of("<dds>\n<qos_library name='L'>\n<qos_profile name='P'>\n<datawriter_qos><history>\n"
                 "<kind>KEEPALL</kind></history></datawriter_qos></qos_profile></qos_library></dds>") ==
        "x.xml:5: dds/qos_library[L]/qos_profile[P]/datawriter_qos/history/kind: 'KEEPALL' is not legal; "
        "legal: "
        "KEEP_LAST, KEEP_ALL; did you mean 'KEEP_ALL'?");
}

TEST_CASE("xml errors: kinds", "[qos]") {
  CHECK(within_writer("<reliability><kind>reliable</kind></reliability>") ==
        "/reliability/kind: 'reliable' is not legal; legal: BEST_EFFORT, RELIABLE; did you mean 'RELIABLE'?");
  CHECK(within_writer("<history><kind>KEEP_AL_HISTORY_QOS</kind></history>") ==
        "/history/kind: 'KEEP_AL_HISTORY_QOS' is not legal; legal: KEEP_LAST, KEEP_ALL; did you mean "
        "'KEEP_ALL'?");
  CHECK(within_writer("<history><kind>KEEP_ALL_DURABILITY_QOS</kind></history>") ==
        "/history/kind: 'KEEP_ALL_DURABILITY_QOS' is not legal; legal: KEEP_LAST, KEEP_ALL");
  CHECK(within_writer("<history><kind></kind></history>") ==
        "/history/kind: the element is empty; it needs a value");
  CHECK(within_writer("<history><kind><a/></kind></history>") ==
        "/history/kind: 'a' stands where only text may stand");
}

TEST_CASE("xml errors: numbers", "[qos]") {
  auto depth = [](std::string_view text) {
    return within_writer(fmt::format("<history><depth>{}</depth></history>", text));
  };
  CHECK(depth("-1") == "/history/depth: '-1' is not legal; legal: a whole number from 0 to 2147483647");
  CHECK(depth("2147483648") ==
        "/history/depth: '2147483648' is not legal; legal: a whole number from 0 to 2147483647");
  CHECK(depth("1x") == "/history/depth: '1x' is not legal; legal: a whole number from 0 to 2147483647");
  CHECK(depth("0") == "/history: HISTORY: KEEP_LAST with depth 0; depth must be at least 1");
  CHECK(within_writer("<resource_limits><max_samples>-2</max_samples></resource_limits>") ==
        "/resource_limits/max_samples: '-2' is not legal; legal: a whole number from 0 to 2147483647, "
        "LENGTH_UNLIMITED");
  CHECK(within_writer("<resource_limits><max_samples>UNLIMITED_LENGTH</max_samples></resource_limits>")
            .ends_with("legal: a whole number from 0 to 2147483647, LENGTH_UNLIMITED"));
  CHECK(within_writer("<resource_limits><max_samples>LENGTH_UNLIMITD</max_samples></resource_limits>")
            .ends_with("; did you mean 'LENGTH_UNLIMITED'?"));
  CHECK(within_writer("<resource_limits><max_samples>0</max_samples></resource_limits>") ==
        "/resource_limits: RESOURCE_LIMITS: max_samples is 0; it must be at least 1 or LENGTH_UNLIMITED");
}

TEST_CASE("xml errors: durations", "[qos]") {
  const std::string at = "/reliability/max_blocking_time";
  CHECK(blocking("") == at + ": the duration is empty; it needs sec or nanosec");
  CHECK(blocking("5") == at + ": '5' stands where only elements may stand");
  CHECK(blocking("<sec>-1</sec>") ==
        at + "/sec: '-1' is not legal; legal: a whole number from 0 to 2147483647, DURATION_INFINITY, "
             "DURATION_INFINITE_SEC");
  CHECK(blocking("<nanosec>1000000000</nanosec>") ==
        at + "/nanosec: '1000000000' is not legal; legal: a whole number from 0 to 999999999, "
             "DURATION_INFINITY, "
             "DURATION_INFINITE_NSEC");
  CHECK(blocking("<sec>DURATION_INFINTY</sec>").ends_with("; did you mean 'DURATION_INFINITY'?"));
  CHECK(blocking("<sec>DURATION_INFINITY</sec><nanosec>0</nanosec>") ==
        at + ": sec is infinite and nanosec is not; make both infinite");
  CHECK(blocking("<sec>0</sec><nanosec>DURATION_INFINITY</nanosec>") ==
        at + ": nanosec is infinite and sec is not; make both infinite");
  CHECK(blocking("<sec>0</sec><sec>0</sec>") ==
        at + "/sec: the element stands here for the second time; it may stand once");
  CHECK(blocking("<msec>0</msec>") ==
        at + "/msec: the element is not known here; legal: sec, nanosec; did you mean 'sec'?");
}

TEST_CASE("xml errors: sizes and counts", "[qos]") {
  auto log = [](std::string_view text) {
    return within_profile(fmt::format(
        "<rank_replacement><log_bytes_per_node>{}</log_bytes_per_node></rank_replacement>", text));
  };
  const std::string legal =
      " is not legal; legal: bytes from 0 to 2^63-1, as a whole number alone or with KiB, MiB or GiB";
  for (const char* text : {"-1", "2GB", "1.5GiB", "GiB", "9223372036854775808", "8589934592GiB", "2 TiB"}) {
    CHECK(log(text) == fmt::format("/rank_replacement/log_bytes_per_node: '{}'{}", text, legal));
  }
  CHECK(log("0").ends_with("rank_replacement: log_bytes_per_node is 0; it must be above 0"));
  CHECK(within_profile("<rank_replacement><max_replacements_per_job>4294967296</max_replacements_per_job>"
                       "</rank_replacement>") ==
        "/rank_replacement/max_replacements_per_job: '4294967296' is not legal; legal: a whole number from 0 "
        "to "
        "4294967295");
}

TEST_CASE("xml errors: what is legal and not enforced yet", "[qos]") {
  CHECK(within_writer("<liveliness><kind>MANUAL_BY_TOPIC_LIVELINESS_QOS</kind><lease_duration><sec>1</sec>"
                      "</lease_duration></liveliness>") ==
        "/liveliness: LIVELINESS: MANUAL_BY_TOPIC with a lease is not enforced for ranks; set "
        "MANUAL_BY_PARTICIPANT, which a rank meets by entering MPI");
  CHECK(within_writer("<ownership><kind>EXCLUSIVE_OWNERSHIP_QOS</kind></ownership>") ==
        "/ownership: kind EXCLUSIVE is not enforced for ranks; only the default is accepted: SHARED");
  CHECK(within_writer("<ownership_strength><value>-5</value></ownership_strength>") ==
        "/ownership_strength: value -5 is not enforced for ranks; only the default is accepted: 0");
  CHECK(
      within_profile("<topic_qos><topic_data><value>1,2</value></topic_data></topic_qos>") ==
      "/topic_qos/topic_data: value 2 bytes: 01 02 is not enforced for ranks; only the default is accepted: "
      "empty");
  CHECK(within_writer("<resource_limits><max_instances>5</max_instances></resource_limits>") ==
        "/resource_limits: RESOURCE_LIMITS: max_instances 5 is not enforced for ranks, whose instances are "
        "the ranks that they send to; leave it LENGTH_UNLIMITED");
  CHECK(within_profile("<datareader_qos><resource_limits><max_samples>5</max_samples></resource_limits>"
                       "</datareader_qos>") ==
        "/datareader_qos/resource_limits: max_samples 5 is not enforced for ranks; only the default is "
        "accepted: LENGTH_UNLIMITED");
  CHECK(within_writer("<latency_budget><duration><sec>1</sec></duration></latency_budget>") ==
        "/latency_budget: duration 1 s is not enforced for ranks; only the default is accepted: 0 s");
  CHECK(within_writer("<transport_priority><value>5</value></transport_priority>") ==
        "/transport_priority: value 5 is not enforced for ranks; only the default is accepted: 0");
  CHECK(within_writer("<durability_service><max_samples>5</max_samples></durability_service>") ==
        "/durability_service: max_samples 5 is not enforced for ranks; only the default is accepted: "
        "LENGTH_UNLIMITED");
  CHECK(within_profile(
            "<publisher_qos><partition><name><element>A</element></name></partition></publisher_qos>") ==
        "/publisher_qos/partition: name 'A' is not enforced for ranks; only the default is accepted: empty");
  CHECK(within_profile("<topic_qos><reliability><kind>RELIABLE</kind></reliability></topic_qos>") ==
        "/topic_qos/reliability: kind RELIABLE is not enforced for ranks; only the default is accepted: "
        "BEST_EFFORT");
  CHECK(within_profile("<publisher_qos><entity_factory><autoenable_created_entities>yes"
                       "</autoenable_created_entities></entity_factory></publisher_qos>") ==
        "/publisher_qos/entity_factory/autoenable_created_entities: 'yes' is not legal; legal: true, false, "
        "1, 0");
}

TEST_CASE("xml errors: policies that contradict each other are reported with both of them", "[qos]") {
  CHECK(within_profile("<rank_replacement><kind>REBUILD</kind></rank_replacement>") ==
        "/rank_replacement: datawriter_qos: rank_replacement REBUILD needs KEEP_ALL: set history, which is "
        "KEEP_LAST");
  const std::string ends =
      "<datawriter_qos><reliability><kind>RELIABLE</kind></reliability><history><kind>KEEP_ALL</kind></"
      "history>"
      "<durability><kind>TRANSIENT_LOCAL</kind></durability></datawriter_qos>"
      "<datareader_qos><reliability><kind>RELIABLE</kind></reliability><history><kind>KEEP_ALL</kind></"
      "history>"
      "</datareader_qos>";
  CHECK(within_profile(ends) == "ok");
  CHECK(
      within_profile(ends + "<rank_replacement><kind>ABORT</kind></rank_replacement>") ==
      "/rank_replacement: rank_replacement ABORT and DURABILITY TRANSIENT_LOCAL disagree: ABORT replaces no "
      "rank, and TRANSIENT_LOCAL keeps all messages for a replacement; set durability to VOLATILE, or leave "
      "out rank_replacement's kind");
  CHECK(within_profile(
            ends + "<rank_replacement><log_directory>/var/tmp</log_directory></rank_replacement>") == "ok");
  CHECK(within_profile("<rank_replacement><log_directory>logs</log_directory></rank_replacement>") ==
        "/rank_replacement: rank_replacement: log_directory is 'logs'; it must be an absolute path, which "
        "begins with '/'");
  for (const char* text : {"0", "-1", "1e3", "1 s", "never", "2000000000", "nan"})
    CHECK(within_profile(fmt::format(
              "<rank_replacement><standby_interval>{}</standby_interval></rank_replacement>", text)) ==
          fmt::format(
              "/rank_replacement/standby_interval: '{}' is not legal; legal: seconds above 0, auto, off",
              text));
  CHECK(
      within_profile("<rank_replacement><kind>ABORT</kind><standby_interval>5</standby_interval>"
                     "</rank_replacement>") ==
      "/rank_replacement: rank_replacement: standby_interval is 5 s, and the profile replaces no rank "
      "(rank_replacement ABORT, DURABILITY VOLATILE); leave out standby_interval, or make it a profile that "
      "replaces ranks (RELIABLE, KEEP_ALL and TRANSIENT_LOCAL at both ends)");
  CHECK(within_profile("<rank_replacement><kind>ABORT</kind><log_directory>/var/tmp</log_directory>"
                       "</rank_replacement>") ==
        "/rank_replacement: rank_replacement: log_directory is '/var/tmp', and the profile keeps no logs "
        "(rank_replacement ABORT, DURABILITY VOLATILE); leave out log_directory, or make it a profile that "
        "replaces ranks (RELIABLE, KEEP_ALL and TRANSIENT_LOCAL at both ends)");
  CHECK(within_writer("<history><depth>3</depth></history><resource_limits><max_samples>2</max_samples>"
                      "</resource_limits>") ==
        ": datawriter_qos: HISTORY: KEEP_LAST with depth 3 does not fit RESOURCE_LIMITS max_samples 2; lower "
        "depth or "
        "raise max_samples");
}

TEST_CASE("xml errors: elements and attributes that do not belong there", "[qos]") {
  CHECK(within_writer("<histroy/>").ends_with("; did you mean 'history'?"));
  CHECK(within_writer("<time_based_filter/>")
            .starts_with("/time_based_filter: the element is not known here; legal: "));
  CHECK(within_writer("<history><kind>KEEP_ALL</kind><kind>KEEP_ALL</kind></history>") ==
        "/history/kind: the element stands here for the second time; it may stand once");
  CHECK(within_writer("<history/>") == "/history: the element is empty; it needs some of: kind, depth");
  CHECK(within_writer("<history/><history/>") ==
        "/history: the element stands here for the second time; it may stand once");
  CHECK(within_writer("<history>KEEP_ALL</history>") ==
        "/history: 'KEEP_ALL' stands where only elements may stand");
  CHECK(within_writer("<history kind='KEEP_ALL'><depth>1</depth></history>") ==
        "/history: attribute 'kind' is not known here; there are none");
  CHECK(within_profile("<qos/>") ==
        "/qos: the element is not known here; legal: rank_replacement, datawriter_qos, datareader_qos, "
        "topic_qos, "
        "publisher_qos, subscriber_qos, domainparticipant_qos, domain_participant_qos, participant_qos, "
        "base_name");
  CHECK(library("<qos_profile name='P' basename='Q'/>") ==
        "x.xml:1: qos_library[L]/qos_profile[P]: attribute 'basename' is not known here; legal: name, "
        "base_name, "
        "is_default_qos; did you mean 'base_name'?");
  CHECK(library("<qos_profile name='P' name='P'/>") ==
        "x.xml:1: not XML: an attribute is malformed or stands there twice");
  CHECK(library("<qos_profil name='P'/>") ==
        "x.xml:1: qos_library[L]/qos_profil[P]: the element is not known here; legal: qos_profile; did you "
        "mean "
        "'qos_profile'?");
  CHECK(error_of("<dds><qos_librari/></dds>") ==
        "x.xml:1: dds/qos_librari: the element is not known here; legal: qos_library; did you mean "
        "'qos_library'?");
  CHECK(error_of("<DDS/>") ==
        "x.xml:1: DDS: the element is not known here; legal: dds, qos_library; did you mean 'dds'?");
}

TEST_CASE("xml errors: names", "[qos]") {
  CHECK(library("<qos_profile/>") == "x.xml:1: qos_library[L]/qos_profile: attribute 'name' is missing");
  CHECK(library("<qos_profile name=''/>") ==
        "x.xml:1: qos_library[L]/qos_profile[]: attribute 'name' is empty");
  CHECK(library("<qos_profile name='a:b'/>") ==
        "x.xml:1: qos_library[L]/qos_profile[a:b]: 'a:b' is not a name; legal: printable characters except "
        "':', "
        "without blanks at the ends");
  CHECK(library(fmt::format("<qos_profile name='{}'/>", std::string(256, 'a')))
            .ends_with("has 256 bytes; the limit is 255"));
  CHECK(library(fmt::format("<qos_profile name='{}'/>", std::string(255, 'a'))) == "ok");
  CHECK(library("<qos_profile name='P'/><qos_profile name='P'/>") ==
        "x.xml:1: qos_library[L]/qos_profile[P]: there is already a qos_profile 'P' in this library");
  CHECK(error_of("<dds><qos_library name='L'/><qos_library name='L'/></dds>") ==
        "x.xml:1: dds/qos_library[L]: there is already a qos_library 'L' in this file");
  CHECK(
      library("<qos_profile name='P' is_default_qos='yes'/>") ==
      "x.xml:1: qos_library[L]/qos_profile[P]: is_default_qos 'yes' is not legal; legal: true, false, 1, 0");
}

TEST_CASE("xml errors: which profile", "[qos]") {
  const std::string two = "<qos_profile name='Pete'/><qos_profile name='Paul'/>";
  CHECK(library("") == "x.xml: there is no qos_profile in this file");
  CHECK(error_of("<qos_library name='L'/>", "P") == "x.xml: there is no qos_profile in this file");
  CHECK(library(two) ==
        "x.xml: there are 2 profiles and none has is_default_qos=\"true\"; name one as x.xml:PROFILE: "
        "L::Paul, L::Pete");
  CHECK(library("<qos_profile name='P' is_default_qos='true'/><qos_profile name='Q' is_default_qos='1'/>") ==
        "x.xml:1: qos_library[L]/qos_profile[Q]: is_default_qos is true here and for 'L::P'; only one may "
        "have it");
  CHECK(error_of("<qos_library name='L'>" + two + "</qos_library>", "L::Pate") ==
        "x.xml: there is no profile 'L::Pate'; there are: L::Paul, L::Pete; did you mean 'L::Pete'?");
  CHECK(error_of("<dds><qos_library name='L'><qos_profile name='P'/></qos_library><qos_library name='M'>"
                 "<qos_profile name='P'/></qos_library></dds>",
                 "P") == "x.xml: more than one library has a profile 'P'; name one: L::P, M::P");
}

TEST_CASE("xml errors: base_name", "[qos]") {
  CHECK(library("<qos_profile name='Pete' base_name='Pate'/>") ==
        "x.xml:1: qos_library[L]/qos_profile[Pete]: base_name 'Pate' names no profile in this file; there "
        "are: L::Pete");
  CHECK(library("<qos_profile name='P' base_name='P'/>") ==
        "x.xml:1: qos_library[L]/qos_profile[P]: base_name 'P' closes a circle: it is itself derived from "
        "'L::P'");
  CHECK(library("<qos_profile name='P' base_name='Q' is_default_qos='true'/><qos_profile name='Q' "
                "base_name='L::P'/>") ==
        "x.xml:1: qos_library[L]/qos_profile[Q]: base_name 'L::P' closes a circle: it is itself derived from "
        "'L::Q'");
  auto chain = [](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i + 1 < length; ++i)
      text += fmt::format("<qos_profile name='P{}' base_name='P{}'/>", i, i + 1);
    return fmt::format("<qos_library name='L'>{}<qos_profile name='P{}'/></qos_library>", text, length - 1);
  };
  CHECK(error_of(chain(base_name_chain_length_max), "P0") == "ok");
  CHECK(error_of(chain(base_name_chain_length_max + 1), "P0")
            .ends_with("a chain of base_name is longer than 32 profiles"));
}

TEST_CASE("xml errors: what is not XML", "[qos]") {
  CHECK(error_of("").ends_with("not XML: there is no element"));
  CHECK(error_of("<!-- only -->") == "x.xml: not XML: there is no element");
  CHECK(error_of("<dds>").find("not XML: ") != std::string::npos);
  CHECK(error_of("<dds>\n</qos>") == "x.xml:1: not XML: an end tag does not match its element");
  CHECK(error_of("<dds><!--") == "x.xml:1: not XML: a comment is not closed");
  CHECK(error_of("<dds/><dds/>") == "x.xml:1: a second root element 'dds'; a file has one");
  CHECK(error_of("<!ELEMENT dds><dds/>") == "x.xml:1: 'ELEMENT dds' stands outside of the root element");
  CHECK(error_of(std::string_view("<dds/>\0<x", 9)) == "x.xml: not XML: there is a NUL byte in it");
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "<dds>";
  CHECK(error_of(deep) == "x.xml:1: not XML: elements are nested too deeply");
  CHECK(error_of(std::string(profile_file_size_max_bytes + 1, ' ')) ==
        "x.xml: the file has more than 1048576 bytes, the limit for a profile file");
  CHECK(library("<qos_profile name='\x01\x7f'/>").find("'\\x01\\x7f' is not a name") != std::string::npos);
  CHECK(library(fmt::format("<qos_profile name='P'><{0}/></qos_profile>", std::string(200, 'a'))).size() <
        500);
}
