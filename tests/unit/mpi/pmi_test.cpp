#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "process/pmi_client.hpp"
#include "test.hpp"

namespace {

using namespace llamada;
using namespace llamada::mpi;
using Nodes = std::vector<std::uint32_t>;

Nodes nodes_of(std::string_view mapping, std::uint32_t size) {
  const auto nodes = parse_process_mapping(mapping, size);
  REQUIRE(nodes);
  return *nodes;
}

/// The other end of a client's socket, which says what it is told to say.
class Manager {
 public:
  Manager() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) == 0); }
  ~Manager() {
    for (const int end : ends_) close(end);
  }
  int client_end() const { return ends_[0]; }
  void say(const std::string& text) const {
    REQUIRE(write(ends_[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  std::string heard() const {
    char bytes[4096];
    const ssize_t count = recv(ends_[1], bytes, sizeof bytes, MSG_DONTWAIT);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }
  void hang_up() { shutdown(ends_[1], SHUT_RDWR); }

 private:
  int ends_[2];
};

constexpr const char* greetings =
    "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"
    "cmd=maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=16\n"
    "cmd=my_kvsname rc=0 kvsname=k\n";

PmiClient greeted(const Manager& manager) {
  manager.say(greetings);
  auto client = PmiClient::open(manager.client_end());
  REQUIRE(client);
  CHECK(manager.heard() == "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_my_kvsname\n");
  return std::move(*client);
}

}  // namespace

TEST_CASE("pmi: a line has a command and fields, whose first values count", "[mpi]") {
  CHECK(pmi_line("get", {{"key", "a"}}) == "cmd=get key=a\n");
  const auto fields = parse_pmi_line("cmd=x rc=0 msg=two words rc=1 value=a=b");
  REQUIRE(fields);
  CHECK(fields->at("rc") == "0");
  CHECK(fields->at("msg") == "two");
  CHECK(fields->at("value") == "a=b");
  CHECK(!parse_pmi_line("rc=0"));
  CHECK(!parse_pmi_line(""));
}

TEST_CASE("pmi: a process mapping is read over and over, and nodes are numbered by their first processes",
          "[mpi]") {
  CHECK(nodes_of("(vector,(0,2,2))", 4) == Nodes{0, 0, 1, 1});
  CHECK(nodes_of("(vector,(0,2,1))", 4) == Nodes{0, 1, 0, 1});
  CHECK(nodes_of("(vector,(3,1,2),(1,1,1))", 3) == Nodes{0, 0, 1});
  CHECK(nodes_of("(vector,(0,1,8))", 2) == Nodes{0, 0});
  for (const char* wrong :
       {"", "(vector)", "(vector,(0,1))", "(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(0,1,1)",
        "(vector,(0,1,1))x", "(vector,(-1,1,1))", "(vector,(0,9999999,1))"})
    CHECK(!parse_process_mapping(wrong, 2));
}

TEST_CASE("pmi: values are put and got; a key that nobody has put is not found", "[mpi]") {
  const Manager manager;
  PmiClient client = greeted(manager);
  manager.say("cmd=put_result rc=0\n");
  CHECK(client.put("a", "1"));
  CHECK(manager.heard() == "cmd=put kvsname=k key=a value=1\n");
  CHECK(client.put("a", "1234567890123456").error().code() == Errc::out_of_resources);
  CHECK(manager.heard().empty());
  manager.say("cmd=get_result rc=0 msg=success value=1\n");
  CHECK(client.get("a").value() == "1");
  manager.say("cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  CHECK(client.get("b").error().code() == Errc::not_found);
}

TEST_CASE("pmi: a barrier ends when the manager says so, or when its caller may wait no longer", "[mpi]") {
  const Manager manager;
  PmiClient client = greeted(manager);
  int looks = 0;
  CHECK(client.barrier([&] { return ++looks < 3; }).error().code() == Errc::would_block);
  CHECK(looks == 3);
  manager.say("cmd=barrier_out rc=0\n");
  CHECK(client.look_at_barrier(std::chrono::milliseconds(0)).value());
  CHECK(!client.look_at_barrier(std::chrono::milliseconds(0)).value());
}

TEST_CASE("pmi: a manager that says something else, too much, or nothing more", "[mpi]") {
  Manager manager;
  PmiClient client = greeted(manager);
  manager.say("cmd=barrier_out rc=0\n");
  CHECK(client.get("a").error().code() == Errc::parse_error);
  manager.say("no line of it\n");
  CHECK(client.get("a").error().code() == Errc::parse_error);
  manager.say("cmd=put_result rc=1 msg=full\n");
  CHECK(client.put("a", "1").error().code() == Errc::invalid_argument);
  std::thread talker([&manager] { manager.say(std::string(2 * pmi_line_bytes_max, 'x')); });
  CHECK(client.get("a").error().code() == Errc::parse_error);
  talker.join();
  manager.hang_up();
  Manager other;
  PmiClient left = greeted(other);
  other.hang_up();
  CHECK(!left.put("a", "1"));
}
