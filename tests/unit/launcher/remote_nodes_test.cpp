#include "remote_nodes.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "node_codec.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

// The coordinator's end of the streams, with nodes that the test plays itself: the agent writes down what it
// was given, and the test connects as a llamanetd would.

using namespace llamada;
using namespace llamada::launcher;

namespace {

struct Given {
  NodeSecret secret{};
  std::string address;
  std::uint16_t port = 0;
};

struct Coordinator {
  explicit Coordinator(const std::string& end_of_agent = "cat >/dev/null") {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &mask);
    const std::string script = folder / "agent";
    std::ofstream(script) << "#!/bin/sh\ncd $(dirname $0)\nhead -c 32 >secret\necho \"$@\" >words.new\n"
                          << "mv words.new words\n"
                          << end_of_agent << "\n";
    chmod(script.c_str(), 0755);
    control::Start job;
    job.job_number = 0xabc;
    job.nodes = {{"here", {}}, {"b", {script}}};
    AgentSurroundings surroundings;
    sigemptyset(&surroundings.signal_mask);
    getrlimit(RLIMIT_NOFILE, &surroundings.descriptor_limit);
    RemoteNodes::Actions actions;
    actions.joined = [this](std::uint32_t node) { events.push_back(fmt::format("joined {}", node)); };
    actions.take = [this](std::uint32_t node, node::FromNode message) {
      events.push_back(fmt::format("heard {} {}", node, std::get<node::Ready>(message).host));
    };
    actions.lost = [this](std::uint32_t node, const std::string& why) {
      events.push_back(fmt::format("lost {}: {}", node, why));
    };
    actions.agent_started = [](pid_t) {};
    remotes = std::make_unique<RemoteNodes>(loop, surroundings, std::move(actions));
    REQUIRE(remotes->start(job));
  }
  ~Coordinator() {
    remotes->end();
    sigprocmask(SIG_SETMASK, &mask, nullptr);
  }

  Given given() {
    while (!std::filesystem::exists(folder / "words")) run();
    Given found;
    std::ifstream(folder / "secret", std::ios::binary)
        .read(reinterpret_cast<char*>(found.secret.data()),
              static_cast<std::streamsize>(found.secret.size()));
    std::stringstream words;
    words << std::ifstream(folder / "words").rdbuf();
    for (std::string word; words >> word;) {
      if (word == "--coordinator") words >> found.address;
      if (word == "--port") words >> found.port;
    }
    found.address.resize(std::min(found.address.find(','), found.address.size()));
    return found;
  }
  /// Runs for a moment.
  void run() {
    loop.after(std::chrono::milliseconds(5), [] {});
    REQUIRE(loop.run_once());
  }
  std::string next_event() {
    while (events.size() == seen) run();
    return events[seen++];
  }

  test::TemporaryFolder folder;
  sigset_t mask{};
  EventLoop loop;
  std::vector<std::string> events;
  std::size_t seen = 0;
  std::unique_ptr<RemoteNodes> remotes;
};

/// A connection, on which the test waits while the coordinator runs.
struct Client {
  Client(Coordinator& coordinator_, const Given& given) : coordinator(coordinator_) {
    auto connecting = begin_to_connect(given.address, given.port);
    REQUIRE(connecting);
    socket = std::move(*connecting);
    while (!is(POLLOUT)) coordinator.run();
  }
  bool is(short event) const {
    pollfd one{socket.get(), event, 0};
    return poll(&one, 1, 0) == 1;
  }
  void send(std::span<const std::byte> bytes) {
    REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  /// False at the end of the stream.
  bool read(std::span<std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      while (!is(POLLIN)) coordinator.run();
      const ssize_t count = recv(socket.get(), bytes.data() + done, bytes.size() - done, 0);
      if (count <= 0) return false;
      done += static_cast<std::size_t>(count);
    }
    return true;
  }
  /// Whether the coordinator has shown that it knows the secret.
  bool greet(const Given& given, const std::string& version = own_version()) {
    const HelloBytes own = encode(NodeHello{version, 0xabc, 1, {std::byte{3}}});
    HelloBytes other;
    ProofBytes proof;
    send(own);
    if (!read(other)) return false;
    send(proof_of(HandshakeSide::node, own, other, given.secret));
    return read(proof) && is_same(proof, proof_of(HandshakeSide::coordinator, own, other, given.secret));
  }

  Coordinator& coordinator;
  FileDescriptor socket;
};

}  // namespace

TEST_CASE("remote nodes: a node joins, is heard and spoken to, and is lost with its stream", "[launcher]") {
  Coordinator coordinator;
  const Given given = coordinator.given();
  auto client = std::make_unique<Client>(coordinator, given);
  CHECK(client->greet(given));
  CHECK(coordinator.next_event() == "joined 1");
  CHECK(coordinator.remotes->own_address() == given.address);
  CHECK(coordinator.remotes->key() == frame_key(given.secret, 0xabc));
  client->send(node::encode(node::FromNode(node::Ready{"B", {}})));
  CHECK(coordinator.next_event() == "heard 1 B");
  coordinator.remotes->send(1, node::Drain{7});
  const auto expected = node::encode(node::ToNode(node::Drain{7}));
  std::vector<std::byte> read(expected.size());
  CHECK(client->read(read));
  CHECK(read == expected);
  client.reset();
  CHECK(coordinator.next_event() == "lost 1: llamanetd there has ended, or can no longer be reached");
}

TEST_CASE("remote nodes: who does not know the secret is hung up on, and changes nothing", "[launcher]") {
  Coordinator coordinator;
  const Given given = coordinator.given();
  Given wrong = given;
  wrong.secret[5] ^= std::byte{1};
  CHECK_FALSE(Client(coordinator, given).greet(wrong));
  Client talker(coordinator, given);
  std::array<std::byte, 100> noise{};
  talker.send(noise);
  CHECK_FALSE(talker.read(noise));
  Client silent(coordinator, given);
  CHECK(coordinator.events.empty());
  CHECK(Client(coordinator, given).greet(given));
  CHECK(coordinator.next_event() == "joined 1");
}

TEST_CASE("remote nodes: a second connection of a node that has joined is hung up on", "[launcher]") {
  Coordinator coordinator;
  const Given given = coordinator.given();
  Client first(coordinator, given), second(coordinator, given);
  REQUIRE(first.greet(given));
  CHECK(second.greet(given));
  std::byte byte;
  CHECK_FALSE(second.read({&byte, 1}));
  CHECK(coordinator.events == std::vector<std::string>{"joined 1"});
}

TEST_CASE("remote nodes: another version of Llamada is refused by name", "[launcher]") {
  Coordinator coordinator;
  const Given given = coordinator.given();
  Client client(coordinator, given);
  client.greet(given, "9.9.9");
  CHECK(coordinator.next_event() ==
        fmt::format("lost 1: Llamada 9.9.9 is installed there, and Llamada {} here; install "
                    "the same version on all hosts",
                    own_version()));
}

TEST_CASE("remote nodes: a node is lost with its agent", "[launcher]") {
  Coordinator coordinator("exit 3");
  const std::string event = coordinator.next_event();
  CHECK(event.starts_with("lost 1: its agent agent (pid "));
  CHECK(event.ends_with(") ended with exit code 3 before llamanetd there had connected"));
}
