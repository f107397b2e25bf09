#include "llamada/launcher/host_list.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

using Hosts = std::vector<HostEntry>;

Hosts file(std::string_view text) {
  auto hosts = parse_host_file(text, "hosts");
  REQUIRE(hosts);
  return *hosts;
}
std::string file_error(std::string_view text) {
  const auto hosts = parse_host_file(text, "hosts");
  REQUIRE_FALSE(hosts);
  return hosts.error().text();
}
Hosts option(std::string_view text) {
  auto hosts = parse_host_option(text);
  REQUIRE(hosts);
  return *hosts;
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("host list: host files of both spellings are read", "[launcher]") {
  CHECK(file("a slots=4 max-slots=8\nb\tslots = 2 max_slots=3\r\n") == Hosts{{"a", 4, 8}, {"b", 2, 3}});
  CHECK(file("a:4\nb\n[fe80::1]:2\nfe80::2") ==
        Hosts{{"a", 4, {}}, {"b", {}, {}}, {"fe80::1", 2, {}}, {"fe80::2", {}, {}}});
  CHECK(file("# all\n\n  user@a.b-c_d:3 # mine\n") == Hosts{{"user@a.b-c_d", 3, {}}});
}

TEST_CASE("host list: a host that comes twice has the slots of both", "[launcher]") {
  CHECK(file("a:2\nb\na slots=3\nb\n") == Hosts{{"a", 5, {}}, {"b", 2, {}}});
  CHECK(option("a,a,b:0") == Hosts{{"a", 2, {}}, {"b", 0, {}}});
}

TEST_CASE("host list: an error of a host file names file and line", "[launcher]") {
  CHECK(contains(file_error("a\nb slots=x\n"), "hosts:2: slots must be a number"));
  CHECK(contains(file_error("a cores=2\n"), "hosts:1: only slots=N and max-slots=N may follow a host"));
  CHECK(contains(file_error("a slots=\n"), "hosts:1"));
  CHECK(contains(file_error("a:3 slots=3\n"), "a second time"));
  CHECK(contains(file_error("a slots=3 max-slots=2\n"), "at most 2"));
  CHECK(contains(file_error("a:-1\n"), "the number behind 'a:'"));
  CHECK(contains(file_error("a:\n"), "the number behind 'a:'"));
  CHECK(contains(file_error("\n# none\n"), "no host"));
}

TEST_CASE("host list: a name that ssh would take for an option is refused", "[launcher]") {
  for (const char* name :
       {"-oProxyCommand=x", "-v", "a;b", "$(a)", "a/b", "@a", "a@", "[a]:1", "[::1", "'a'"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_host_option(name));
    CHECK_FALSE(parse_host_file(name, "hosts"));
  }
  CHECK_FALSE(parse_host_option(""));
  CHECK_FALSE(parse_host_option(",,"));
}

TEST_CASE("host list: this host is known by its names and addresses", "[launcher]") {
  const std::vector<std::string> addresses{"10.0.0.7", "fe80::7"};
  for (const char* name :
       {"localhost", "127.0.0.1", "127.0.1.1", "::1", "node7", "node7.cluster", "10.0.0.7", "fe80::7"}) {
    CAPTURE(name);
    CHECK(is_this_host(name, "node7.cluster", addresses));
  }
  for (const char* name : {"node8", "node7.other", "10.0.0.8", "fe80::8", "10", "user@node8"}) {
    CAPTURE(name);
    CHECK_FALSE(is_this_host(name, "node7.cluster", addresses));
  }
  CHECK(is_this_host("node7.cluster", "node7", addresses));
}
