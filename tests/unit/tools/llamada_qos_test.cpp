#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using llamada::test::Ended;
using nlohmann::json;

namespace {

Ended llamada_qos(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {LLAMADA_COMMAND, "qos"});
  return llamada::test::run(std::move(arguments));
}

std::string file(const std::string& name) { return std::string(LLAMADA_QOS_FILES) + "/" + name; }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

json parsed(const Ended& ended) {
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  return json::parse(ended.out);
}

}  // namespace

TEST_CASE("llamada qos check: values, where they come from, and plain words", "[tools]") {
  const Ended ended = llamada_qos({"check", "fault-tolerant"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(has(ended.out, "profile llamada::fault_tolerant"));
  CHECK(has(ended.out, "fault-tolerant.xml:11\n"));
  CHECK(has(ended.out, "max_blocking_time                   100 ms                   default\n"));
  CHECK(has(ended.out,
            "A rank dies: it is replaced and the job goes on, at most 10 times for one rank and 100 times in "
            "all."));
  CHECK(has(ended.out, "Memory: every message sent is kept, up to 2 GiB on a node."));
  CHECK(has(llamada_qos({"check", "default"}).out,
            "A rank dies: the job ends, with a message and the rank's exit code."));
}

TEST_CASE("llamada qos check: BLANK and SHRINK in words", "[tools]") {
  const json blank = parsed(llamada_qos({"check", "ulfm", "--json"}))["ranks"];
  CHECK(has(blank["survives"][0], "A rank dies: the others go on without it."));
  CHECK(has(blank["survives"].dump(), "MPI_Comm_dup of a communicator with a dead member fails (BLANK)."));
  CHECK(has(blank["costs"][0], "No memory: "));
  const llamada::test::TemporaryFolder folder;
  const std::string own = folder / "shrink.xml";
  std::ofstream(own)
      << "<qos_library name='L'><qos_profile name='P' base_name='llamada::ulfm'>"
         "<rank_replacement><kind>SHRINK</kind></rank_replacement></qos_profile></qos_library>";
  const json shrink = parsed(llamada_qos({"check", own, "--json"}))["ranks"];
  CHECK(shrink["survives"][0] == blank["survives"][0]);
  CHECK(has(shrink["survives"].dump(), "MPI_Comm_dup leaves out members that have died (SHRINK)."));
  CHECK(shrink["costs"] == blank["costs"]);
}

TEST_CASE("llamada qos check: the loss of a node and of the whole job in words", "[tools]") {
  const auto survives = [](const std::string& profile) {
    return parsed(llamada_qos({"check", profile, "--json"}))["ranks"]["survives"].dump();
  };
  CHECK(has(survives("fault-tolerant"), "The node, mpirun or llamanetd dies: the job is gone."));
  CHECK(has(survives("node-fault-tolerant"), "One of several nodes is lost: all ranks start again"));
  CHECK(has(survives("node-fault-tolerant"), "The node of mpirun, or mpirun, dies: the job is gone."));
  CHECK(has(survives("persistent"), "mpirun --resume goes on with it"));
}

TEST_CASE("llamada qos check --json: each value with its file and line, or as default", "[tools]") {
  const json out = parsed(llamada_qos({"check", file("send_window.xml"), "--json"}));
  CHECK(out["profile"] == "Worker_Library::Strict_Profile");
  const json& writer = out["qos"]["datawriter_qos"];
  CHECK(writer["send_window"]["max"] ==
        json{{"value", 40}, {"default", false}, {"file", file("send_window.xml")}, {"line", 22}});
  CHECK(writer["reliability"]["max_blocking_time"]["value"] == 60'000'000'000);
  CHECK(writer["lifespan"]["duration"] == json{{"value", "infinite"}, {"default", true}});
  CHECK(out["warnings"].size() == 2);
  CHECK(out["topics"]["match"] == true);
  CHECK(out["ranks"]["accepted"] == true);
  CHECK(out["ranks"]["costs"].dump().find("at most 40 messages under way to one other") != std::string::npos);
  CHECK(out["qos"]["qos_profile"]["rank_replacement"]["kind"]["value"] == "REBUILD");
  for (const char* entity : {"domainparticipant_qos", "topic_qos", "publisher_qos", "subscriber_qos",
                             "datareader_qos", "qos_profile"})
    CHECK(out["qos"].contains(entity));
}

TEST_CASE("llamada qos check: rank_replacement follows from the policies", "[tools]") {
  const std::filesystem::path with =
      std::filesystem::path(LLAMADA_QOS_FILES) / "../../../../qos-profiles/fault-tolerant.xml";
  std::ifstream file(with);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t begin = text.find("<rank_replacement>");
  const std::string end = "</rank_replacement>";
  REQUIRE(begin != std::string::npos);
  text.erase(begin, text.find(end) + end.size() - begin);
  const llamada::test::TemporaryFolder folder;
  const std::string without = folder / "without.xml";
  std::ofstream(without) << text;
  const json before = parsed(llamada_qos({"check", with.string(), "--json"}));
  const json after = parsed(llamada_qos({"check", without, "--json"}));
  CHECK(after["ranks"] == before["ranks"]);
  CHECK(after["topics"] == before["topics"]);
  const json& kind = after["qos"]["qos_profile"]["rank_replacement"]["kind"];
  CHECK(kind == json{{"value", "REBUILD"}, {"default", false}, {"file", without}, {"line", 11}});
}

TEST_CASE("llamada qos check: promises nothing that cannot be made", "[tools]") {
  const llamada::test::TemporaryFolder folder;
  const auto check = [&](const std::string& writer) {
    const std::string file = folder / "x.xml";
    std::ofstream(file) << "<qos_library name='L'><qos_profile name='P'><datawriter_qos>" << writer
                        << "</datawriter_qos></qos_profile></qos_library>";
    return parsed(llamada_qos({"check", file, "--json"}))["topics"];
  };
  CHECK(check("<history><kind>KEEP_ALL</kind></history>")["accepted"] == true);
  CHECK_FALSE(has(check("<durability><kind>PERSISTENT</kind></durability>").dump(), "llamada-persistd"));
}

TEST_CASE("llamada qos check: says what a persistence service keeps", "[tools]") {
  const llamada::test::TemporaryFolder folder;
  const std::string file = folder / "x.xml";
  const std::string durability = "<durability><kind>PERSISTENT</kind></durability>";
  std::ofstream(file) << "<qos_library name='L'><qos_profile name='P'><datawriter_qos>" << durability
                      << "<durability_service><history_depth>5</history_depth></durability_service>"
                         "</datawriter_qos><datareader_qos>"
                      << durability << "</datareader_qos></qos_profile></qos_library>";
  CHECK(has(parsed(llamada_qos({"check", file, "--json"}))["topics"]["survives"].dump(),
            "While llamada-persistd runs, it also gets the newest 5 samples of each instance of writers that "
            "have ended"));
}

TEST_CASE("llamada qos check: shows and checks the settings of a job", "[tools]") {
  const llamada::test::TemporaryFolder folder;
  const std::string file = folder / "x.xml";
  const auto property = [](const std::string& name, const std::string& value) {
    return "<property><value><element><name>" + name + "</name><value>" + value +
           "</value></element></value></property>";
  };
  const auto check = [&](const std::string& participant, const std::string& writer = {}) {
    std::ofstream(file) << "<dds><qos_library name='L'><qos_profile name='P'>\n<domainparticipant_qos>"
                        << participant << "</domainparticipant_qos>\n<datawriter_qos>" << writer
                        << "</datawriter_qos></qos_profile></qos_library></dds>";
    return llamada_qos({"check", file, "--json"});
  };
  const json out = parsed(check(property("llamada_eager_bytes_max", "16 KiB")));
  CHECK(out["settings"]["llamada_eager_bytes_max"] == json{{"value", 16384},
                                                           {"default", false},
                                                           {"least", 0},
                                                           {"most", 134217728},
                                                           {"file", file},
                                                           {"line", 2}});
  CHECK(out["settings"]["llamada_spin_rounds"]["default"] == true);
  CHECK(out["settings"].size() == 10);
  CHECK(has(
      check(property("llamada_eager_byte_max", "1")).err,
      "x.xml:2: dds/qos_library[L]/qos_profile[P]/domainparticipant_qos/property/value/element: there is no "
      "setting 'llamada_eager_byte_max'; llamada qos check lists all; did you mean "
      "'llamada_eager_bytes_max'?"));
  CHECK(has(check(property("llamada_bulk_piece_bytes", "1")).err,
            "llamada_bulk_piece_bytes is 1 bytes; legal: 4 KiB to 4 MiB"));
  CHECK(has(check(property("llamada_spin_rounds", "1"), property("llamada_spin_rounds", "2")).err,
            "llamada_spin_rounds is 2 here and 1 in another entity; give it one value"));
  const json foreign = parsed(check(property("dds.transport.builtin", "1")));
  CHECK(has(foreign["warnings"][0], "a property is another vendor's; it has no effect here"));
}

TEST_CASE("llamada qos check: a profile is chosen by name and by topic", "[tools]") {
  CHECK(parsed(llamada_qos({"check", file("match.xml"), "strict", "--json"}))["profile"] == "lab::strict");
  CHECK(parsed(llamada_qos({"check", file("match.xml") + ":lab::strict", "--json"}))["profile"] ==
        "lab::strict");
  const json fast =
      parsed(llamada_qos({"check", file("match.xml"), "strict", "--topic", "faster", "--json"}));
  CHECK(fast["topic"] == "faster");
  CHECK(fast["qos"]["datareader_qos"]["deadline"]["period"]["value"] == 5'000'000);
  CHECK(fast["topics"]["match"] == false);
}

TEST_CASE("llamada qos check: what is wrong is one sentence and an exit code", "[tools]") {
  const Ended unnamed = llamada_qos({"check", file("match.xml")});
  CHECK(unnamed.exit_code == 1);
  CHECK(unnamed.out.empty());
  CHECK(has(unnamed.err, "there are 3 profiles and none has is_default_qos=\"true\""));
  const Ended misspelt = llamada_qos({"check", file("match.xml"), "stict"});
  CHECK(misspelt.exit_code == 1);
  CHECK(has(misspelt.err, "did you mean 'strict'?"));
  CHECK(has(llamada_qos({"check", "fault-tolerent"}).err, "did you mean 'fault-tolerant'?"));
  CHECK(llamada_qos({"check", "/nowhere/x.xml"}).exit_code == 1);
  CHECK(llamada_qos({"check"}).exit_code != 0);
}

TEST_CASE("llamada qos match: whether, and why not", "[tools]") {
  const Ended fits = llamada_qos({"match", file("match.xml"), "strict", "plain"});
  CHECK(fits.exit_code == 0);
  CHECK(fits.out == "A writer of lab::strict and a reader of lab::plain match.\n");
  const Ended refused = llamada_qos({"match", file("match.xml"), "plain", "strict"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.out ==
        "A writer of lab::plain and a reader of lab::strict do not match:\n"
        "  DURABILITY: reader 'lab::strict' requests TRANSIENT_LOCAL, writer 'lab::plain' offers VOLATILE\n");
  const Ended apart = llamada_qos({"match", file("match.xml"), "plain", "elsewhere"});
  CHECK(apart.exit_code == 1);
  CHECK(
      has(apart.out, "PARTITION: reader 'lab::elsewhere' is in name 'east', writer 'lab::plain' in name ''"));
  const Ended missing = llamada_qos({"match", file("match.xml"), "plain", "nobody"});
  CHECK(missing.exit_code == 2);
  CHECK(has(missing.err, "there is no profile 'nobody'"));
}

TEST_CASE("llamada qos match --json: the reasons as a list", "[tools]") {
  const Ended ended =
      llamada_qos({"match", file("match.xml"), "plain", "strict", "--topic", "fast1", "--json"});
  CHECK(ended.exit_code == 1);
  CHECK(json::parse(ended.out) ==
        json{{"writer", "lab::plain"},
             {"reader", "lab::strict"},
             {"match", false},
             {"reasons",
              {"DEADLINE: reader 'lab::strict' requests period 5 ms, writer 'lab::plain' offers infinite"}}});
}
