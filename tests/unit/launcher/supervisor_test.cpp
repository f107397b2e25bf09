#include "node_supervisor.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "llamada/qos/serialization.hpp"
#include "process_tree.hpp"
#include "test.hpp"

// The processes of a node, supervised without a coordinator: the test says what a coordinator would, and
// looks at what it would be told.

using namespace llamada;
using namespace llamada::launcher;

namespace {

/// Arenas in which nobody is ever seen.
class NoArenas final : public JobArenas {
 public:
  explicit NoArenas(std::vector<std::string>& calls) : calls_(calls) {}
  std::string address() const override { return "llamada/0/job-0-0"; }
  int descriptor() const override { return -1; }
  Result<std::vector<ArenaEvent>> do_work() override { return std::vector<ArenaEvent>(); }
  Status expect(std::uint32_t rank, std::uint64_t, const std::string&) override {
    calls_.push_back(fmt::format("expect {}", rank));
    return {};
  }
  Status next_incarnation(std::uint32_t rank, const std::string&) override {
    calls_.push_back(fmt::format("next {}", rank));
    return {};
  }
  Result<std::uint32_t> add_ranks(std::uint32_t) override { return std::uint32_t{7}; }
  void answer_spawn(std::uint64_t, const SpawnAnswer&) override {}
  void answer_reach(std::uint64_t) override {}
  void answer_inject(std::uint64_t, const InjectAnswer&) override {}
  void limit_log(std::uint64_t) override {}
  void set_unprotected() override {}
  void set_done(std::uint32_t rank) override { calls_.push_back(fmt::format("done {}", rank)); }
  void set_ending() override { calls_.emplace_back("ending"); }
  RankView view(std::uint32_t) const override { return {}; }

 private:
  std::vector<std::string>& calls_;
};

/// Gone, or not reaped yet.
bool is_dead(pid_t pid) {
  for (const ProcessEntry& entry : descendants_of(getpid()))
    if (entry.pid == pid) return entry.state == 'Z' || entry.state == 'X';
  return true;
}

struct Node {
  explicit Node(const qos::Profile& profile = {}) {
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    supervisor = std::make_unique<NodeSupervisor>(
        loop,
        [this](const ArenasRequest&) -> Result<std::unique_ptr<JobArenas>> {
          return std::unique_ptr<JobArenas>(std::make_unique<NoArenas>(calls));
        },
        [this](node::FromNode message) { told.push_back(std::move(message)); });
    supervisor->take(node::Prepare{1, 1, qos::serialize(profile)});
    REQUIRE_FALSE(std::get<node::Ready>(told.at(0)).host.empty());
  }
  ~Node() {
    supervisor->take(node::KillAll{});
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
  }

  static node::RankStart shell(std::uint32_t slot, const std::string& script) {
    node::RankStart start;
    start.slot = slot;
    start.program = "/bin/sh";
    start.arguments = {"sh", "-c", script};
    start.environment = {"PATH=/usr/bin:/bin", fmt::format("LLAMADA_RANK={}", slot), "LLAMADA_TOKEN=0"};
    return start;
  }
  void start(std::vector<node::RankStart> ranks) { supervisor->take(node::StartRanks{std::move(ranks)}); }
  /// Runs until the node has told such a message; messages before it are forgotten, output is kept.
  template <typename Wanted>
  Wanted wait_for() {
    for (;;) {
      while (next < told.size()) {
        auto message = std::move(told[next++]);
        if (const auto* output = std::get_if<control::Output>(&message)) written += output->bytes;
        if (auto* wanted = std::get_if<Wanted>(&message)) return std::move(*wanted);
      }
      REQUIRE(loop.run_once());
    }
  }

  sigset_t mask{};
  std::vector<std::string> calls;
  std::vector<node::FromNode> told;
  std::size_t next = 0;
  std::string written;
  EventLoop loop;
  std::unique_ptr<NodeSupervisor> supervisor;
};

}  // namespace

TEST_CASE("supervisor: a process is started, its output told, and then its end", "[launcher]") {
  Node node;
  node.start({Node::shell(0, "echo $LLAMADA_DRIVER; echo oops >&2; exit 3")});
  CHECK(node.wait_for<node::Started>().pid > 0);
  const auto end = node.wait_for<node::Ended>();
  CHECK(end.root_status == 3 << 8);
  CHECK_FALSE(end.behind_wrapper);
  CHECK(node.written.find("oops\n") != std::string::npos);  // told before the end
  node.supervisor->take(node::Drain{0});
  CHECK(node.wait_for<node::Done>().slot == 0);
  CHECK(node.written.find("llamada/0/job-0-0\n") != std::string::npos);
  CHECK(node.calls == std::vector<std::string>{"expect 0", "done 0"});
}

TEST_CASE("supervisor: standard input is given, and what was taken is told", "[launcher]") {
  Node node;
  node.start({Node::shell(0, "cat")});
  node.wait_for<node::Started>();
  node.supervisor->take(control::Input{"abc"});
  CHECK(node.wait_for<control::InputTaken>().size_bytes == 3);
  node.supervisor->take(control::Input{});
  CHECK(node.wait_for<node::Ended>().root_status == 0);
  node.supervisor->take(control::Input{"more"});  // nobody reads it, nobody must wait for it
  CHECK(node.wait_for<control::InputTaken>().size_bytes == 4);
  node.supervisor->take(node::Drain{0});
  node.wait_for<node::Done>();
  CHECK(node.written == "abc");
}

TEST_CASE("supervisor: behind a fence nothing of the dead rank lives, and another process may be started",
          "[launcher]") {
  Node node;
  node.start({Node::shell(0, "setsid sleep 1000 & echo $!; kill -KILL $$")});
  node.wait_for<node::Started>();
  CHECK(node.wait_for<node::Ended>().root_status == SIGKILL);
  node.supervisor->take(node::Fence{0});
  node.wait_for<node::Fenced>();
  CHECK(is_dead(std::stoi(node.written)));
  auto again = Node::shell(0, "echo again");
  again.incarnation = 2;
  node.start({again});
  node.wait_for<node::Started>();
  node.wait_for<node::Ended>();
  node.supervisor->take(node::Drain{0});
  node.wait_for<node::Done>();
  CHECK(node.written.ends_with("again\n"));
  CHECK(node.calls == std::vector<std::string>{"expect 0", "next 0", "done 0"});
}

TEST_CASE("supervisor: a program that is not there is told, and nothing waits for it", "[launcher]") {
  Node node;
  auto missing = Node::shell(1, "");
  missing.program = "/no/such/program";
  node.start({Node::shell(0, "sleep 1000"), missing, Node::shell(2, "true")});
  CHECK(node.wait_for<node::Started>().slot == 0);
  const auto told = node.wait_for<node::CannotStart>();
  CHECK(told.slot == 1);
  CHECK(told.error_number == ENOENT);
  CHECK(node.wait_for<node::Done>().slot == 1);
  CHECK(node.wait_for<node::Done>().slot == 2);
  node.supervisor->take(node::SignalRank{0, SIGTERM, true});
  CHECK(node.wait_for<node::Ended>().root_status == SIGTERM);
}

TEST_CASE("supervisor: the end of the job ends all processes, also those that do not want to", "[launcher]") {
  Node node;
  node.start(
      {Node::shell(0, "exec sleep 1000"), Node::shell(1, "trap '' TERM; echo ready; sleep 1000 & wait")});
  while (node.written.find("ready") == std::string::npos) node.wait_for<control::Output>();
  node.supervisor->take(node::EndJob{});
  CHECK(node.wait_for<node::Ended>().root_status == SIGTERM);
  CHECK(node.wait_for<node::Ended>().root_status == SIGKILL);
  node.supervisor->take(node::Drain{0});
  node.supervisor->take(node::Drain{1});
  node.wait_for<node::Done>();
  node.wait_for<node::Done>();
}

TEST_CASE("supervisor: output that is held is not read, and nothing of it is lost", "[launcher]") {
  Node node;
  node.supervisor->take(node::HoldOutput{true});
  node.start({Node::shell(0, "echo one; echo two")});
  node.wait_for<node::Ended>();
  CHECK(node.written.empty());
  node.supervisor->take(node::HoldOutput{false});
  node.supervisor->take(node::Drain{0});
  node.wait_for<node::Done>();
  CHECK(node.written == "one\ntwo\n");
}

TEST_CASE("supervisor: what it counts is what runs", "[launcher]") {
  Node node;
  node.start({Node::shell(0, "sleep 1000"), Node::shell(1, "true")});
  node.wait_for<node::Ended>();
  node.supervisor->take(node::Survey{});
  const auto seen = node.wait_for<node::Surveyed>();
  CHECK(seen.ranks_running == 1);
  CHECK(seen.ranks_in_mpi == 0);
}

TEST_CASE("supervisor: under a lease a stopped process is told of, and killed when it is said so",
          "[launcher]") {
  qos::Profile profile;
  profile.datawriter_qos.liveliness.lease_duration = std::chrono::milliseconds(200);
  Node node(profile);
  node.start({Node::shell(0, "sleep 1000 & kill -STOP $$; wait"), Node::shell(1, "exec sleep 1000")});
  const auto found = node.wait_for<node::LeaseFound>();
  CHECK(found.slot == 0);
  CHECK(found.incarnation == 1);
  CHECK(found.finding.kind == LeaseFinding::Kind::over);
  CHECK(found.finding.silence == Silence::stopped);
  CHECK(found.finding.silent_for_ns >= 200'000'000);
  node.supervisor->take(node::KillRank{0});
  const auto end = node.wait_for<node::Ended>();
  CHECK(end.slot == 0);
  CHECK(end.root_status == SIGKILL);
  node.supervisor->take(node::Fence{0});
  node.wait_for<node::Fenced>();
}
