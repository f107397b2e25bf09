#include <nlohmann/json.hpp>

#include "command.hpp"
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
  CHECK(out["ranks"]["accepted"] == false);
  CHECK(has(out["ranks"]["reason"], "min 20 is not enforced for ranks"));
  for (const char* entity : {"domainparticipant_qos", "topic_qos", "publisher_qos", "subscriber_qos",
                             "datareader_qos", "qos_profile"})
    CHECK(out["qos"].contains(entity));
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
