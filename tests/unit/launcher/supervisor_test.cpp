#include "node_supervisor.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "llamada/qos/serialization.hpp"
#include "process_tree.hpp"
#include "temporary_folder.hpp"
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
  int descriptor() const override { return event_.get(); }
  Result<std::vector<ArenaEvent>> do_work() override {
    eventfd_t count = 0;
    eventfd_read(event_.get(), &count);
    return std::exchange(events_, {});
  }
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
  void answer_reach(std::uint64_t question, const WrittenOutput& written) override {
    calls_.push_back(fmt::format("answer {}: {} {}", question, written[0], written[1]));
  }
  void answer_inject(std::uint64_t, const InjectAnswer&) override {}
  void limit_log(std::uint64_t) override {}
  void set_unprotected() override {}
  void set_done(std::uint32_t rank) override { calls_.push_back(fmt::format("done {}", rank)); }
  void set_ending() override { calls_.emplace_back("ending"); }
  RankView view(std::uint32_t) const override { return {}; }
  std::string endpoints() const override { return "here"; }
  Status probe_nodes(const std::vector<std::string>& endpoints) override {
    ArenaEvent probed{.kind = ArenaEventKind::probed};
    probed.probe = {"no right", std::vector<PairProbe>(endpoints.size(), PairProbe{1400, 0, 5})};
    happens(std::move(probed));
    return {};
  }
  void happens(ArenaEvent event) {
    events_.push_back(std::move(event));
    eventfd_write(event_.get(), 1);
  }
  Status meet_nodes(const std::vector<std::string>& endpoints, const LinkChoice& /*link*/) override {
    calls_.push_back(fmt::format("meet {}", endpoints.size()));
    return endpoints.empty() ? Status(failure(Errc::parse_error, "no endpoints")) : Status();
  }
  Result<std::string> add_ranks_of_nodes(const std::vector<std::uint32_t>& nodes) override {
    calls_.push_back(fmt::format("add {}", nodes.size()));
    return std::string("more");
  }
  Status meet_ranks(const std::vector<std::string>& endpoints) override {
    calls_.push_back(fmt::format("meet more {}", endpoints.size()));
    return endpoints.empty() ? Status(failure(Errc::parse_error, "no endpoints")) : Status();
  }
  void drop_ranks(std::uint32_t first, std::uint32_t count) override {
    calls_.push_back(fmt::format("drop {} {}", first, count));
  }
  void set_remote(std::uint32_t rank, RemoteState state, std::uint32_t incarnation) override {
    calls_.push_back(fmt::format("remote {} {} {}", rank, static_cast<int>(state), incarnation));
  }

 private:
  std::vector<std::string>& calls_;
  FileDescriptor event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::vector<ArenaEvent> events_;
};

/// Gone, or not reaped yet.
bool is_dead(pid_t pid) {
  for (const ProcessEntry& entry : descendants_of(getpid()))
    if (entry.pid == pid) return entry.state == 'Z' || entry.state == 'X';
  return true;
}
/// Of a process that runs no more: its files are closed some moments before its state says so.
bool is_dead_soon(pid_t pid) {
  for (int look = 0; look < 500 && !is_dead(pid); ++look) usleep(10'000);
  return is_dead(pid);
}

struct Node {
  explicit Node(const qos::Profile& profile = {}, bool prepares = true) {
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    supervisor = std::make_unique<NodeSupervisor>(
        loop,
        [this](const ArenasRequest& request) -> Result<std::unique_ptr<JobArenas>> {
          nodes = request.nodes;
          auto made = std::make_unique<NoArenas>(calls);
          arenas = made.get();
          return std::unique_ptr<JobArenas>(std::move(made));
        },
        [this](node::FromNode message) { told.push_back(std::move(message)); });
    if (!prepares) return;
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
  NoArenas* arenas = nullptr;
  std::optional<ArenasRequest::Nodes> nodes;  ///< what the arenas were told of other nodes
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

TEST_CASE("supervisor: what a rank wrote before it asks how much that is comes before the question",
          "[launcher]") {
  const test::TemporaryFolder folder;
  Node node;
  const std::string go = folder / "go", ready = folder / "ready";
  node.start(
      {Node::shell(0, fmt::format("until [ -e {} ]; do sleep 0.01; done; printf out; printf err >&2; : >{}; "
                                  "sleep 1000",
                                  go, ready))});
  node.wait_for<node::Started>();
  const ReplayPlace place = GENERATE(ReplayPlace::output, ReplayPlace::restored);
  ArenaEvent asked{.kind = ArenaEventKind::reach};
  asked.reach = {.place = place, .number = 77, .checkpoint = 3, .written = {5, std::uint64_t{6} << 40}};
  // Nobody looks until all is there.
  node.arenas->happens(asked);
  std::ofstream(go) << "";
  while (!std::filesystem::exists(ready)) usleep(1000);
  const auto reached = node.wait_for<node::Reached>();
  CHECK(node.written.size() == 6);
  CHECK(reached.slot == 0);
  CHECK(reached.place == place);
  CHECK(reached.question == 77);
  CHECK(reached.checkpoint == 3);
  CHECK(reached.written == WrittenOutput{5, std::uint64_t{6} << 40});
  node.supervisor->take(node::AnswerReach{77, {1, 2}});
  CHECK(node.calls.back() == "answer 77: 1 2");
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
  CHECK(is_dead_soon(std::stoi(node.written)));
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

namespace {

/// Of a job whose rank 1 is on this node, which is number 1.
node::Prepare of_two_nodes() {
  node::Prepare message{2, 1, qos::serialize(qos::Profile())};
  message.own_node = 1;
  message.node_of_rank = {0, 1};
  message.programs = {"/bin/sh"};
  message.working_directory = "/tmp";
  return message;
}

std::string refusal_of(const node::Prepare& message) {
  Node node({}, false);
  node.supervisor->take(message);
  return node.wait_for<node::NotReady>().why;
}

}  // namespace

TEST_CASE("supervisor: arenas of a job on several nodes hear of the others, and their ranks", "[launcher]") {
  Node node({}, false);
  node.supervisor->set_links({"10.0.0.2", {7}});
  node.supervisor->take(of_two_nodes());
  CHECK(node.wait_for<node::Ready>().endpoints == "here");
  REQUIRE(node.nodes);
  CHECK(node.nodes->own == 1);
  CHECK(node.nodes->of_rank == std::vector<std::uint32_t>{0, 1});
  CHECK(node.nodes->address == "10.0.0.2");
  CHECK(node.nodes->key[0] == 7);
  node.supervisor->take(node::ProbeNodes{{"there", "here"}});
  const NodeProbe probe = node.wait_for<node::Probed>().probe;
  CHECK(probe.why_no_ethernet == "no right");
  REQUIRE(probe.pairs.size() == 2);
  CHECK(probe.pairs[0].udp_bytes == 1400);
  node.supervisor->take(node::MeetNodes{{"there", "here"}});
  node.wait_for<node::Met>();
  node.supervisor->take(node::SetRemote{0, RemoteState::done, 1});
  CHECK(node.calls == std::vector<std::string>{"meet 2", "remote 0 2 1"});
  node.supervisor->take(node::MeetNodes{});
  CHECK(node.wait_for<node::NotReady>().why == "no endpoints");
}

TEST_CASE("supervisor: the ranks of other nodes are none of its own", "[launcher]") {
  Node node({}, false);
  node.supervisor->take(of_two_nodes());
  node.start({Node::shell(1, "exec sleep 1000")});
  node.supervisor->take(node::Survey{});
  CHECK(node.wait_for<node::Surveyed>().ranks_running == 1);
  node.supervisor->take(node::AskWaits{3});
  CHECK(node.wait_for<node::Waits>().ranks.size() == 1);
  node.supervisor->take(node::SignalRank{1, SIGKILL, true});
  CHECK(node.wait_for<node::Ended>().slot == 1);
  node.supervisor->take(node::Drain{1});
  CHECK(node.wait_for<node::Done>().slot == 1);
}

TEST_CASE("supervisor: programs and directories that are not on the node are named", "[launcher]") {
  node::Prepare message = of_two_nodes();
  message.programs.emplace_back("/no/such/program");
  CHECK(refusal_of(message).find("the program /no/such/program does not exist") == 0);
  message = of_two_nodes();
  message.working_directory = "/no/such/folder";
  CHECK(refusal_of(message).find("the working directory /no/such/folder does not exist") == 0);
}

TEST_CASE("supervisor: a child that is spared outlives all ranks, and so does what descends from it",
          "[launcher]") {
  Node node;
  const pid_t agent = fork();
  if (agent == 0) execl("/bin/sh", "sh", "-c", "sleep 1000 & wait", nullptr);
  node.supervisor->spare(agent, [](int) {});
  node.start({Node::shell(0, "sleep 1000")});
  node.wait_for<node::Started>();
  node.supervisor->take(node::KillAll{});
  node.wait_for<node::Ended>();
  CHECK_FALSE(is_dead(agent));
  for (const ProcessEntry& entry : descendants_of(agent)) kill(entry.pid, SIGKILL);
  kill(agent, SIGKILL);
}

TEST_CASE("supervisor: whoever has started a spared child learns of its end", "[launcher]") {
  Node node;
  const pid_t child = fork();
  if (child == 0) _exit(3);
  std::optional<int> status;
  node.supervisor->spare(child, [&status](int wait_status) { status = wait_status; });
  node.start({Node::shell(0, "exit 0")});
  // Both have ended before any end is looked at.
  while (!is_dead(child)) usleep(1000);
  node.wait_for<node::Ended>();
  CHECK(status == 3 << 8);
}

TEST_CASE("supervisor: ranks are added on all nodes, and what they need is looked for on their own",
          "[launcher]") {
  Node node({}, false);
  node.supervisor->take(of_two_nodes());
  node.wait_for<node::Ready>();
  node.supervisor->take(node::AddRanks{5, 2, {0, 1}, {{0, "/no/such", "/no"}, {1, "/bin/sh", "/tmp"}}, {}});
  const auto added = node.wait_for<node::RanksAdded>();
  CHECK(added.question == 5);
  CHECK(added.error.empty());
  CHECK(added.endpoints == "more");
  node.supervisor->take(node::MeetRanks{5, {"one", "two"}});
  CHECK(node.wait_for<node::RanksMet>().error.empty());
  node.supervisor->take(node::AddRanks{6, 1, {1}, {{1, "/no/such", "/tmp"}}, {}});
  CHECK(node.wait_for<node::RanksAdded>().error.find("the program /no/such does not exist") == 0);
  node.supervisor->take(node::DropRanks{4, 1});
  // A node whose program is missing adds the slots all the same: their numbers are the job's.
  CHECK(node.calls == std::vector<std::string>{"add 2", "meet more 2", "add 1", "drop 4 1"});
}
