#include <algorithm>

#include "command.hpp"
#include "test.hpp"

using llamada::test::Ended;
using llamada::test::run;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("llamada: a usage error is one sentence with the program's name, and exit code 2", "[tools]") {
  const std::vector<std::vector<std::string>> wrong{{},
                                                    {"sing"},
                                                    {"ls", "--colour"},
                                                    {"why"},
                                                    {"spy", "topic", "--count", "some"},
                                                    {"record"},
                                                    {"replay"},
                                                    {"replay", "file", "--rate", "0"},
                                                    {"qos"},
                                                    {"qos", "check"},
                                                    {"top", "--interval", "0"},
                                                    {"help", "sing"}};
  for (std::vector<std::string> words : wrong) {
    words.insert(words.begin(), LLAMADA_COMMAND);
    const Ended ended = run(words);
    INFO(ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    CHECK(ended.err.starts_with("llamada: "));
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  }
}

TEST_CASE("llamada: a command that does not exist is named, with the nearest one", "[tools]") {
  CHECK(run({LLAMADA_COMMAND, "spi", "topic"}).err ==
        "llamada: there is no command 'llamada spi'; the nearest is 'spy'; see 'llamada --help'\n");
  CHECK(run({LLAMADA_COMMAND, "qos", "sing"}).err ==
        "llamada: there is no command 'llamada qos sing'; see 'llamada qos --help'\n");
}

TEST_CASE("llamada help and --version", "[tools]") {
  const Ended all = run({LLAMADA_COMMAND, "help"});
  CHECK(all.exit_code == 0);
  CHECK(has(all.out, "Explain why the writers and readers of a topic match"));
  const Ended one = run({LLAMADA_COMMAND, "help", "qos", "match"});
  CHECK(one.exit_code == 0);
  CHECK(has(one.out, "llamada qos match"));
  CHECK(has(one.out, "The reader's profile"));
  CHECK(run({LLAMADA_COMMAND, "qos", "match", "--help"}).exit_code == 0);
  const Ended version = run({LLAMADA_COMMAND, "--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out.starts_with("llamada (Llamada) "));
}
