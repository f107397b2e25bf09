// A test bed seen from outside: nodes that reach each other, faults of their links, and that nothing is left.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test.hpp"

using namespace llamada;
using namespace std::chrono_literals;

namespace {

constexpr int exit_skipped = 77;
constexpr auto watchdog = 60s;
using Words = std::vector<std::string>;

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + watchdog;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

/// A process of this test with its standard output; killed when this goes.
class Program {
 public:
  explicit Program(Words words) {
    std::array<int, 2> ends;
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    std::vector<char*> arguments;
    for (std::string& each : words) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    std::fclose(output_);
  }

  pid_t pid() const { return pid_; }
  /// The next line of its output; empty at the end.
  std::string line() {
    std::array<char, 4096> buffer{};
    std::string text = std::fgets(buffer.data(), buffer.size(), output_) == nullptr ? "" : buffer.data();
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  std::string rest() {
    std::string all;
    for (std::string next; !(next = line()).empty();) all += next + "\n";
    return all;
  }
  /// Its exit status, or minus the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  FILE* output_ = nullptr;
};

Words nodes(Words words) {
  words.insert(words.begin(), LLAMADA_NODES);
  return words;
}

/// What `nodes list` says of a bed: its owner's pid and its keeper's; none: it is gone.
Words listed(const std::string& bed) {
  std::istringstream all(Program(nodes({"list"})).rest());
  for (std::string id, owner, keeper; all >> id >> owner >> keeper;)
    if (id == bed) return {owner, keeper};
  return {};
}

std::string network_namespace(const std::string& process) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/" + process + "/ns/net", ignored).string();
}

Words children_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/task/" + process + "/children");
  Words all;
  for (std::string child; file >> child;) all.push_back(child);
  return all;
}

bool is_in_use(const std::set<std::string>& namespaces) {
  for (const auto& each : std::filesystem::directory_iterator("/proc")) {
    const std::string name = each.path().filename();
    if (name.find_first_not_of("0123456789") == name.npos && namespaces.contains(network_namespace(name)))
      return true;
  }
  return false;
}

/// Once for all tests of this program.
void hand_on_skipped(const std::string& line) {
  static bool is_said = false;
  if (!std::exchange(is_said, true)) std::printf("%s\n", line.c_str());
}

/// A bed that this test owns.
class Bed {
 public:
  explicit Bed(Words up) {
    up.insert(up.begin(), "up");
    Program making(nodes(std::move(up)));
    id_ = making.line();
    const int status = making.wait();
    if (status == exit_skipped) {
      hand_on_skipped(id_);
      id_.clear();
      return;
    }
    REQUIRE(status == 0);
    const Words found = listed(id_);
    REQUIRE(found.size() == 2);
    keeper_ = found[1];
    namespaces_.insert(network_namespace(keeper_));
    for (const std::string& node : nodes_here()) namespaces_.insert(network_namespace(node));
  }
  ~Bed() {
    if (!id_.empty() && !listed(id_).empty()) Program(nodes({"--bed", id_, "down"})).wait();
  }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  /// False: the machine refuses it, which has been said.
  explicit operator bool() const { return !id_.empty(); }
  const std::string& id() const { return id_; }
  const std::string& keeper() const { return keeper_; }
  /// The first process of each node, as this test sees it.
  Words nodes_here() const { return children_of(keeper_); }

  Words command(Words words) const {
    words.insert(words.begin(), {"--bed", id_});
    return nodes(std::move(words));
  }
  Words in_node(int node, Words words) const {
    words.insert(words.begin(), {"exec", std::to_string(node)});
    return command(std::move(words));
  }
  void relay(Words words) const {
    relayed_.insert(words.at(0));
    words.insert(words.begin(), "relay");
    REQUIRE(Program(command(std::move(words))).wait() == 0);
  }
  std::string text_of(int node, Words words) const { return Program(in_node(node, std::move(words))).rest(); }
  /// Whether datagrams come from one node to the other and back.
  bool reaches(int from, int to) const {
    Program answering(in_node(to, {LLAMADA_TRAFFIC, "answer", "7000"}));
    REQUIRE(answering.line() == "ready");
    return Program(in_node(from, {LLAMADA_TRAFFIC, "ask", address(to), "7000"})).wait() == 0;
  }
  /// The numbers of those of `count` datagrams that come from one node to the other.
  std::vector<int> numbers(int from, int to, int count) const {
    Program receiving(in_node(to, {LLAMADA_TRAFFIC, "receive", "7001"}));
    REQUIRE(receiving.line() == "ready");
    const Words send{LLAMADA_TRAFFIC, "send", address(to), "7001", std::to_string(count)};
    REQUIRE(Program(in_node(from, send)).wait() == 0);
    settle();
    ::kill(receiving.pid(), SIGTERM);
    std::istringstream all(receiving.rest());
    std::vector<int> came;
    for (int number = 0; all >> number;) came.push_back(number);
    return came;
  }
  static std::string address(int node) { return "10.77.0." + std::to_string(node + 1); }

  /// Nothing of it is left: no name, and no process in one of its namespaces.
  bool is_gone() const {
    return eventually([&] { return listed(id_).empty() && !is_in_use(namespaces_); });
  }

 private:
  /// Relays have sent all that has come to them, and the kernel has had time to deliver it.
  void settle() const {
    for (const std::string& node : relayed_)
      REQUIRE(eventually([&] {
        const std::string text = Program(command({"relay", node})).rest();
        return text.empty() || text.find("waiting=0 ") != text.npos;
      }));
    std::this_thread::sleep_for(200ms);
  }

  std::string id_;
  std::string keeper_;
  mutable std::set<std::string> relayed_;
  std::set<std::string> namespaces_;
};

/// A counter of the kernel in a node, as /proc/net/snmp has it.
long counter(const Bed& bed, int node, const std::string& protocol, const std::string& name) {
  std::istringstream text(bed.text_of(node, {"/bin/cat", "/proc/net/snmp"}));
  std::string heads, values;
  while (std::getline(text, heads) && std::getline(text, values)) {
    std::istringstream head(heads), value(values);
    std::string title, number;
    while (head >> title && value >> number)
      if (heads.starts_with(protocol + ":") && title == name) return std::stol(number);
  }
  return -1;
}

void kill_process(const std::string& process) { REQUIRE(::kill(std::stoi(process), SIGKILL) == 0); }

}  // namespace

TEST_CASE("bed: nodes are hosts of their own that reach each other", "[bed]") {
  const Bed bed({"3"});
  if (!bed) return;
  CHECK(bed.reaches(0, 2));
  CHECK(bed.reaches(2, 1));
  std::set<std::string> names;
  for (int node = 0; node < 3; ++node) names.insert(bed.text_of(node, {"/bin/uname", "-n"}));
  CHECK(names == std::set<std::string>{"node0-" + bed.id() + "\n", "node1-" + bed.id() + "\n",
                                       "node2-" + bed.id() + "\n"});
  CHECK(bed.text_of(1, {"/usr/bin/getent", "hosts", "node2"}).starts_with(Bed::address(2)));
  // Each has processes and shared memory of its own.
  const auto make = bed.in_node(0, {"/bin/sh", "-c", "echo $$ $LLAMADA_BED_NODE; touch /dev/shm/of-node-0"});
  CHECK(std::stoi(Program(make).rest()) < 100);
  CHECK(bed.text_of(0, {"/bin/ls", "/dev/shm"}) == "of-node-0\n");
  CHECK(bed.text_of(1, {"/bin/ls", "/dev/shm"}).empty());
  CHECK_FALSE(std::filesystem::exists("/dev/shm/of-node-0"));
  // Exit statuses come through, those of signals, too.
  CHECK(Program(bed.in_node(0, {"/bin/sh", "-c", "exit 5"})).wait() == 5);
  CHECK(Program(bed.in_node(0, {"/bin/sh", "-c", "kill -9 $$"})).wait() == 128 + SIGKILL);
  CHECK(Program(bed.in_node(0, {"/no/such/program"})).wait() == 127);
  CHECK(Program(bed.in_node(3, {"/bin/true"})).wait() == 1);
  REQUIRE(Program(bed.command({"down"})).wait() == 0);
  // At once: down has waited.
  CHECK(listed(bed.id()).empty());
  CHECK(bed.is_gone());
}

TEST_CASE("bed: several at once do not disturb each other", "[bed]") {
  const Bed one({"2"}), other({"2"});
  if (!one || !other) return;
  Program answering(one.in_node(1, {LLAMADA_TRAFFIC, "answer", "7000"}));
  REQUIRE(answering.line() == "ready");
  // The same address and port, in the other one.
  CHECK(other.reaches(0, 1));
  REQUIRE(Program(other.command({"down"})).wait() == 0);
  CHECK(Program(one.in_node(0, {LLAMADA_TRAFFIC, "ask", Bed::address(1), "7000"})).wait() == 0);
}

TEST_CASE("bed: whichever part is killed, what hangs on it ends, and nothing is left", "[bed]") {
  SECTION("the keeper") {
    const Bed bed({"2"});
    if (!bed) return;
    bed.relay({"0", "both", "delay=1ms"});
    Program one(bed.in_node(0, {"/bin/sleep", "1000"})), other(bed.in_node(1, {"/bin/sleep", "1000"}));
    REQUIRE(bed.reaches(0, 1));
    kill_process(bed.keeper());
    CHECK(one.wait() == 128 + SIGKILL);
    CHECK(other.wait() == 128 + SIGKILL);
    CHECK(bed.is_gone());
  }
  SECTION("a node, as if its power were cut") {
    const Bed bed({"3"});
    if (!bed) return;
    Program inside(bed.in_node(1, {"/bin/sh", "-c", "echo here; setsid sleep 1000 & sleep 1000"}));
    REQUIRE(inside.line() == "here");
    SECTION("by its first process") { kill_process(bed.nodes_here().at(1)); }
    SECTION("by command") { REQUIRE(Program(bed.command({"kill", "1"})).wait() == 0); }
    CHECK(inside.wait() == 128 + SIGKILL);
    CHECK(bed.reaches(0, 2));
    CHECK(Program(bed.in_node(1, {"/bin/true"})).wait() == 1);
    CHECK(eventually([&] { return bed.nodes_here().size() == 2; }));
  }
  SECTION("the command that runs something in a node") {
    const Bed bed({"1"});
    if (!bed) return;
    Program command(bed.in_node(0, {"/bin/sh", "-c", "echo $$; exec sleep 1000"}));
    const std::string inside = command.line();
    REQUIRE_FALSE(inside.empty());
    ::kill(command.pid(), SIGKILL);
    CHECK(command.wait() == -SIGKILL);
    CHECK(eventually([&] {
      return Program(bed.in_node(0, {"/bin/sh", "-c", "kill -0 " + inside + " 2>&-"})).wait() != 0;
    }));
  }
  SECTION("the test that owns the bed") {
    const std::string script = std::string("id=$(") + LLAMADA_NODES +
                               " up 2 --owner $$) || { echo \"$id\"; exit 77; }; echo $id; " + LLAMADA_NODES +
                               " --bed $id exec 0 sleep 1000";
    Program owner({"/bin/sh", "-c", script});
    const std::string id = owner.line();
    if (id.starts_with("SKIPPED")) {
      hand_on_skipped(id);
      return;
    }
    const Words found = listed(id);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == std::to_string(owner.pid()));
    std::set<std::string> namespaces{network_namespace(found[1])};
    for (const std::string& node : children_of(found[1])) namespaces.insert(network_namespace(node));
    CHECK(namespaces.size() == 3);
    ::kill(owner.pid(), SIGKILL);
    owner.wait();
    CHECK(eventually([&] { return listed(id).empty() && !is_in_use(namespaces); }));
  }
}

TEST_CASE("bed: a bed around a command ends with it", "[bed]") {
  Program run(nodes({"run", "2", "--", "/bin/sh", "-c",
                     std::string("echo $LLAMADA_BED; ") + LLAMADA_NODES + " exec 1 uname -n; exit 3"}));
  const std::string id = run.line();
  if (id.starts_with("SKIPPED")) {
    hand_on_skipped(id);
    return;
  }
  CHECK(run.line() == "node1-" + id);
  CHECK(run.wait() == 3);
  CHECK(listed(id).empty());
}

TEST_CASE("bed: a relay drops the same datagrams in two beds of one seed", "[bed]") {
  constexpr int count = 1000;
  std::vector<int> came[3];
  for (int run = 0; run < 3; ++run) {
    const Bed bed({"2", "--seed", run < 2 ? "4711" : "4712"});
    if (!bed) return;
    REQUIRE(bed.reaches(0, 1));  // and knows its address
    bed.relay({"0", "both", "loss=10%"});
    came[run] = bed.numbers(0, 1, count);
    CHECK(came[run].size() > count * 8 / 10);
    CHECK(came[run].size() < count * 95 / 100);
    CHECK(std::is_sorted(came[run].begin(), came[run].end()));
    CHECK(Program(bed.command({"relay", "0"})).rest().find("overruns=0") != std::string::npos);
  }
  CHECK(came[0] == came[1]);
  CHECK(came[0] != came[2]);
}

TEST_CASE("bed: faults change while a relay runs, and end with it", "[bed]") {
  constexpr int count = 200;
  const Bed bed({"2"});
  if (!bed) return;
  REQUIRE(bed.reaches(0, 1));
  bed.relay({"1", "both", "none"});
  CHECK(bed.numbers(0, 1, count).size() == count);
  bed.relay({"1", "to", "duplicate=100%"});
  CHECK(bed.numbers(0, 1, count).size() == 2 * count);
  bed.relay({"1", "to", "none", "reorder=20%"});
  auto came = bed.numbers(0, 1, count);
  CHECK(came.size() == count);
  CHECK_FALSE(std::is_sorted(came.begin(), came.end()));
  bed.relay({"1", "to", "none", "delay=20ms"});
  CHECK(bed.reaches(0, 1));
  bed.relay({"1", "off"});
  CHECK(bed.numbers(0, 1, count).size() == count);
  CHECK(Program(bed.command({"relay", "1"})).wait() == 1);
  CHECK(Program(bed.command({"relay", "1", "sideways", "cut"})).wait() == 1);
  CHECK(Program(bed.command({"relay", "1", "to", "rain=1%"})).wait() == 1);
}

TEST_CASE("bed: a cut in one direction lets the other one pass", "[bed]") {
  constexpr int count = 200;
  const Bed bed({"3"});
  if (!bed) return;
  // Neighbours know each other's addresses before.
  REQUIRE(bed.reaches(0, 1));
  REQUIRE(bed.reaches(0, 2));
  REQUIRE(bed.reaches(1, 2));
  SECTION("of all of a node's frames") {
    bed.relay({"0", "from", "cut"});
    CHECK(bed.numbers(1, 0, count).size() == count);
    CHECK(bed.numbers(0, 1, count).empty());
    CHECK(bed.numbers(0, 2, count).empty());
    CHECK(bed.numbers(1, 2, count).size() == count);
    bed.relay({"0", "from", "cut=no"});
    CHECK(bed.numbers(0, 1, count).size() == count);
  }
  SECTION("between two nodes") {
    bed.relay({"0", "both", "peer=1", "cut"});
    CHECK(bed.numbers(0, 1, count).empty());
    CHECK(bed.numbers(1, 0, count).empty());
    CHECK(bed.reaches(0, 2));
    CHECK(bed.reaches(2, 1));
  }
}

TEST_CASE("bed: a corrupted datagram is seen by its checksum", "[bed]") {
  constexpr int count = 300;
  const Bed bed({"2"});
  if (!bed) return;
  REQUIRE(bed.reaches(0, 1));
  bed.relay({"0", "from", "corrupt=100%"});
  const long udp = counter(bed, 1, "Udp", "InCsumErrors"), ip = counter(bed, 1, "Ip", "InHdrErrors");
  REQUIRE(udp >= 0);
  REQUIRE(ip >= 0);
  CHECK(bed.numbers(0, 1, count).empty());
  // Most bits of a datagram of 400 bytes lie behind the IP header.
  CHECK(counter(bed, 1, "Udp", "InCsumErrors") - udp > count / 2);
  CHECK(counter(bed, 1, "Ip", "InHdrErrors") >= ip);
}
