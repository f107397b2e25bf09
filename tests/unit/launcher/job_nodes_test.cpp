#include "job_nodes.hpp"

#include <algorithm>

#include "test.hpp"

// Two nodes as the coordinator sees them, without a stream: ranks 0 and 2 are on node 0, rank 1 is on node 1.

using namespace llamada;
using namespace llamada::launcher;

namespace {

struct Nodes {
  explicit Nodes(bool starts = true) {
    control::Start job;
    job.rank_count = 3;
    job.nodes = {{"a", {}}, {"b", {"ssh", "b"}}};
    job.node_of_rank = {0, 1, 0};
    nodes.begin(job);
    node::Prepare prepare;
    prepare.node_of_rank = job.node_of_rank;
    nodes.take(prepare);
    if (!starts) return;
    nodes.joined(1);
    for (const std::uint32_t node : {1, 0})
      nodes.take(node, node::Ready{node == 0 ? "A" : "B", node == 0 ? "ea" : "eb"});
    for (const std::uint32_t node : {0, 1}) nodes.take(node, probed());
    for (const std::uint32_t node : {0, 1}) nodes.take(node, node::Met{});
    forget();
  }

  static node::Probed probed(std::uint32_t udp_bytes = 1472, std::uint32_t ethernet_mtu = 1496) {
    return {{"", {{udp_bytes, ethernet_mtu, 100}, {udp_bytes, ethernet_mtu, 100}}}};
  }
  void forget() {
    told[0].clear();
    told[1].clear();
    heard.clear();
  }
  template <typename Wanted>
  std::size_t count(std::uint32_t node) const {
    std::size_t found = 0;
    for (const auto& message : told[node]) found += std::holds_alternative<Wanted>(message);
    return found;
  }
  template <typename Wanted>
  const Wanted* last(std::uint32_t node) const {
    return told[node].empty() ? nullptr : std::get_if<Wanted>(&told[node].back());
  }
  template <typename Wanted>
  const Wanted* last_heard() const {
    return heard.empty() ? nullptr : std::get_if<Wanted>(&heard.back());
  }

  std::vector<node::ToNode> told[2];
  std::vector<node::FromNode> heard;
  JobNodes nodes{
      [this](std::uint32_t node, node::ToNode message) { told[node].push_back(std::move(message)); },
      [this](node::FromNode message) { heard.push_back(std::move(message)); }};
};

}  // namespace

TEST_CASE("job nodes: of a job on one node nothing is changed", "[launcher]") {
  Nodes all(false);
  std::size_t passed = 0;
  JobNodes one([&](std::uint32_t node, node::ToNode) { passed += node == 0; },
               [&](node::FromNode) { ++passed; });
  one.begin({});
  one.take(node::Prepare{});
  one.take(0, node::SpawnWanted{});
  CHECK(passed == 2);
}

TEST_CASE("job nodes: no rank starts before all nodes have joined, have arenas and know each other",
          "[launcher]") {
  Nodes all(false);
  CHECK(all.told[0].empty());
  all.nodes.joined(1);
  REQUIRE(all.last<node::Prepare>(1));
  CHECK(all.last<node::Prepare>(0)->own_node == 0);
  CHECK(all.last<node::Prepare>(1)->own_node == 1);
  all.nodes.take(1, node::Ready{"B", "eb"});
  CHECK(all.count<node::ProbeNodes>(1) == 0);
  all.nodes.take(0, node::Ready{"A", "ea"});
  REQUIRE(all.last<node::ProbeNodes>(1));
  CHECK(all.last<node::ProbeNodes>(1)->endpoints == std::vector<std::string>{"ea", "eb"});
  all.nodes.take(0, Nodes::probed(1472, 1496));
  CHECK(all.count<node::MeetNodes>(1) == 0);
  all.nodes.take(1, Nodes::probed(1400, 1496));
  REQUIRE(all.last<node::MeetNodes>(1));
  CHECK(all.last<node::MeetNodes>(1)->link.udp_bytes == 1400);
  CHECK(all.last<node::MeetNodes>(1)->link.ethernet_mtu == 1496);
  CHECK(all.last<node::MeetNodes>(0)->endpoints == std::vector<std::string>{"ea", "eb"});
  all.nodes.take(0, node::Met{});
  CHECK(all.heard.empty());
  all.nodes.take(1, node::Met{});
  REQUIRE(all.heard.size() == 2);
  CHECK(std::get<node::Ready>(all.heard[0]).host == "A");
  CHECK(std::get<node::Ready>(all.heard[1]).host == "B");
}

TEST_CASE("job nodes: a lost node leaves no question open, and its ranks have ended", "[launcher]") {
  Nodes all;
  all.nodes.take(node::AskStack{7, 1});
  all.nodes.take(node::AskWaits{8});
  all.nodes.take(0, node::Waits{8, {{0, {}, {}}}});
  CHECK(all.heard.empty());
  all.nodes.lost(1, "it is silent");
  const auto heard = [&](auto wanted) {
    const decltype(wanted)* found = nullptr;
    for (const auto& message : all.heard)
      if (const auto* each = std::get_if<decltype(wanted)>(&message)) found = each;
    REQUIRE(found);
    return *found;
  };
  CHECK(heard(node::NodeLost()).node == 1);
  CHECK(heard(node::Stack()).question == 7);
  const auto waits = heard(node::Waits());
  REQUIRE(waits.ranks.size() == 2);
  CHECK(waits.ranks[1].slot == 1);
  CHECK(waits.ranks[1].course == waits::SurveyedRank::Course::ended);
  CHECK(heard(node::Done()).slot == 1);
  all.forget();
  all.nodes.take(node::AskStack{9, 1});
  CHECK(heard(node::Stack()).question == 9);
  all.forget();
  // Whatever still comes of it is too late.
  all.nodes.take(1, node::AgreementWanted{1, {}});
  CHECK(all.heard.empty());
}

TEST_CASE("job nodes: a node that cannot begin ends the job, by its name", "[launcher]") {
  Nodes all(false);
  SECTION("it says so") {
    all.nodes.joined(1);
    all.nodes.take(1, node::NotReady{"no memory"});
    CHECK(all.last_heard<node::NotReady>()->why == "the node 'b': no memory");
  }
  SECTION("it never comes") {
    all.nodes.lost(1, "its agent ended");
    CHECK(all.last_heard<node::NotReady>()->why == "the node 'b': its agent ended");
  }
  const std::size_t heard = all.heard.size();
  all.nodes.take(0, node::NotReady{"no memory either"});
  all.nodes.lost(0, "gone");
  CHECK(all.heard.size() == heard);
}

TEST_CASE("job nodes: nodes that do not reach each other have no job", "[launcher]") {
  Nodes all(false);
  all.nodes.joined(1);
  for (const std::uint32_t node : {0, 1}) all.nodes.take(node, node::Ready{"", ""});
  all.nodes.take(0, Nodes::probed());
  all.nodes.take(1, Nodes::probed(0, 0));
  REQUIRE(all.last_heard<node::NotReady>());
  CHECK(all.last_heard<node::NotReady>()->why.find("UDP does not travel from the node 'a' to the node 'b'") ==
        0);
  CHECK(all.count<node::MeetNodes>(0) == 0);
}

TEST_CASE("job nodes: with -v the user is told of the nodes and their link", "[launcher]") {
  Nodes all(false);
  control::Start job;
  job.rank_count = 3;
  job.verbose = 1;
  job.nodes = {{"a", {}}, {"b", {"ssh", "b"}}};
  job.node_of_rank = {0, 1, 0};
  std::vector<std::string> said;
  JobNodes nodes([](std::uint32_t, node::ToNode) {},
                 [&](const node::FromNode& message) {
                   if (const auto* notice = std::get_if<control::Notice>(&message))
                     said.push_back(notice->text);
                 });
  nodes.begin(job);
  nodes.take(node::Prepare{});
  nodes.joined(1);
  for (const std::uint32_t node : {0, 1}) nodes.take(node, node::Ready{"", ""});
  for (const std::uint32_t node : {0, 1}) nodes.take(node, Nodes::probed(1472, 0));
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("mpirun: 3 ranks on 2 nodes: a (2), b (1); the link between them is UDP, 1472 bytes") ==
        0);
}

TEST_CASE("job nodes: a job that is ended before its nodes have come waits for none", "[launcher]") {
  Nodes all(false);
  all.nodes.take(node::EndJob{});
  CHECK(all.last_heard<node::Ready>());
}

TEST_CASE("job nodes: each node gets what is for its ranks", "[launcher]") {
  Nodes all;
  node::StartRanks start;
  for (const std::uint32_t slot : {0, 1, 2}) start.ranks.emplace_back().slot = slot;
  all.nodes.take(start);
  REQUIRE(all.last<node::StartRanks>(0));
  CHECK(all.last<node::StartRanks>(0)->ranks.size() == 2);
  CHECK(all.last<node::StartRanks>(1)->ranks.size() == 1);
  all.nodes.take(node::Drain{2});
  CHECK(all.last<node::Drain>(0));
  all.nodes.take(node::SignalRank{1, 10, true});
  CHECK(all.last<node::SignalRank>(1));
  all.nodes.take(control::Input{"x"});
  CHECK(all.last<control::Input>(0));
  all.nodes.take(node::EndJob{});
  CHECK((all.last<node::EndJob>(0) && all.last<node::EndJob>(1)));
}

TEST_CASE("job nodes: the answers of all nodes are one", "[launcher]") {
  Nodes all;
  all.nodes.take(node::Survey{});
  all.nodes.take(0, node::Surveyed{2, 1});
  CHECK(all.heard.empty());
  all.nodes.take(1, node::Surveyed{1, 1});
  REQUIRE(all.last_heard<node::Surveyed>());
  CHECK(all.last_heard<node::Surveyed>()->ranks_running == 3);
  CHECK(all.last_heard<node::Surveyed>()->ranks_in_mpi == 2);
  all.nodes.take(node::AskWaits{5});
  all.nodes.take(1, node::Waits{5, {{1, {}, {}}}});
  all.nodes.take(1, node::Waits{4, {}});  // to a question before
  all.nodes.take(0, node::Waits{5, {{0, {}, {}}, {2, {}, {}}}});
  REQUIRE(all.last_heard<node::Waits>());
  CHECK(all.last_heard<node::Waits>()->ranks.size() == 3);
  CHECK(all.last_heard<node::Waits>()->question == 5);
}

TEST_CASE("job nodes: who asks is answered, though both nodes give their questions the same number",
          "[launcher]") {
  Nodes all;
  for (const std::uint32_t node : {0, 1}) all.nodes.take(node, node::InjectWanted{3, "kill any"});
  all.nodes.take(node::AnswerInject{std::get<node::InjectWanted>(all.heard[1]).question, {true, "b"}});
  CHECK(all.told[0].empty());
  REQUIRE(all.last<node::AnswerInject>(1));
  CHECK(all.last<node::AnswerInject>(1)->question == 3);
}

TEST_CASE("job nodes: the answer to a question for what ranks share goes to the node that has asked",
          "[launcher]") {
  Nodes all;
  node::SharedWanted wanted{1, {}};
  wanted.question = {SharedQuestion::Kind::add, false, {}, {}, 5, 1, 10, 8};
  all.nodes.take(1, wanted);
  REQUIRE(all.last_heard<node::SharedWanted>());
  CHECK(all.last_heard<node::SharedWanted>()->slot == 1);
  CHECK(all.last_heard<node::SharedWanted>()->question.operand == 10);
  SharedAnswer moved;
  moved.before = 7;
  all.nodes.take(node::AnswerShared{all.last_heard<node::SharedWanted>()->question.number, moved});
  CHECK(all.told[0].empty());
  REQUIRE(all.last<node::AnswerShared>(1));
  CHECK(all.last<node::AnswerShared>(1)->question == 8);
  CHECK(all.last<node::AnswerShared>(1)->answer.before == 7);
}

TEST_CASE("job nodes: the answer to MPI_Comm_spawn goes to the node that has asked", "[launcher]") {
  Nodes all;
  node::SpawnWanted wanted;
  wanted.question.number = 8;
  all.nodes.take(1, wanted);
  REQUIRE(all.last_heard<node::SpawnWanted>());
  all.nodes.take(node::AnswerSpawn{all.last_heard<node::SpawnWanted>()->question.number, {3, 2, {}}});
  CHECK(all.told[0].empty());
  REQUIRE(all.last<node::AnswerSpawn>(1));
  CHECK(all.last<node::AnswerSpawn>(1)->question == 8);
  CHECK(all.last<node::AnswerSpawn>(1)->answer.first == 3);
}

TEST_CASE(
    "job nodes: a rank's question on its way to a checkpoint keeps what it says, and so does the answer",
    "[launcher]") {
  Nodes all;
  all.nodes.take(1, node::Reached{1, ReplayPlace::restored, true, 8, 3, {4, 5}});
  REQUIRE(all.last_heard<node::Reached>());
  const node::Reached heard = *all.last_heard<node::Reached>();
  CHECK(heard.place == ReplayPlace::restored);
  CHECK(heard.checkpoint == 3);
  CHECK(heard.written == WrittenOutput{4, 5});
  all.nodes.take(node::AnswerReach{heard.question, {6, 7}});
  CHECK(all.told[0].empty());
  REQUIRE(all.last<node::AnswerReach>(1));
  CHECK(all.last<node::AnswerReach>(1)->question == 8);
  CHECK(all.last<node::AnswerReach>(1)->written == WrittenOutput{6, 7});
}

TEST_CASE("job nodes: added ranks are known on all nodes before the coordinator hears of them",
          "[launcher]") {
  Nodes all;
  all.nodes.take(node::AddRanks{7, 2, {1, 0}, {}, {}});
  REQUIRE(all.last<node::AddRanks>(0));
  REQUIRE(all.last<node::AddRanks>(1));
  all.nodes.take(1, node::RanksAdded{7, 0, {}, "more of b"});
  CHECK(all.count<node::MeetRanks>(1) == 0);
  all.nodes.take(0, node::RanksAdded{7, 0, {}, "more of a"});
  for (const std::uint32_t node : {0, 1}) {
    REQUIRE(all.last<node::MeetRanks>(node));
    CHECK(all.last<node::MeetRanks>(node)->endpoints == std::vector<std::string>{"more of a", "more of b"});
  }
  all.nodes.take(0, node::RanksMet{7, {}});
  CHECK(all.heard.empty());
  all.nodes.take(1, node::RanksMet{7, {}});
  REQUIRE(all.last_heard<node::RanksAdded>());
  CHECK(all.last_heard<node::RanksAdded>()->first == 3);
  all.forget();
  node::StartRanks start;
  start.ranks = {node::RankStart{3}, node::RankStart{4}};
  all.nodes.take(start);
  CHECK(all.last<node::StartRanks>(1)->ranks[0].slot == 3);
  CHECK(all.last<node::StartRanks>(0)->ranks[0].slot == 4);
  all.nodes.take(1, node::Said{3, ArenaEventKind::finalized, 0, {}});
  CHECK(all.heard.empty());
  CHECK(all.last<node::SetRemote>(0)->state == RemoteState::finalized);
  all.nodes.take(1, node::Done{3, {}});
  CHECK(all.last<node::SetRemote>(0)->slot == 3);
  CHECK(all.last<node::SetRemote>(0)->state == RemoteState::done);
}

TEST_CASE("job nodes: ranks that one node cannot add are dropped by all, and their slots are not used again",
          "[launcher]") {
  Nodes all;
  const bool fails_late = GENERATE(false, true);
  all.nodes.take(node::AddRanks{7, 2, {1, 0}, {}, {}});
  all.nodes.take(0, node::RanksAdded{7, 0, {}, "ea"});
  all.nodes.take(1, node::RanksAdded{7, 0, fails_late ? "" : "no room", "eb"});
  all.nodes.take(0, node::RanksMet{7, {}});
  if (fails_late) all.nodes.take(1, node::RanksMet{7, "no room"});
  REQUIRE(all.last_heard<node::RanksAdded>());
  CHECK(all.last_heard<node::RanksAdded>()->error == "the node 'b': no room");
  for (const std::uint32_t node : {0, 1}) {
    REQUIRE(all.last<node::DropRanks>(node));
    CHECK(all.last<node::DropRanks>(node)->first == 3);
    CHECK(all.last<node::DropRanks>(node)->count == 2);
  }
  all.forget();
  all.nodes.take(node::AddRanks{8, 1, {1}, {}, {}});
  for (const std::uint32_t node : {0, 1}) all.nodes.take(node, node::RanksAdded{8, 0, {}, "e"});
  for (const std::uint32_t node : {0, 1}) all.nodes.take(node, node::RanksMet{8, {}});
  CHECK(all.last_heard<node::RanksAdded>()->first == 5);
}

TEST_CASE("job nodes: a node that is lost while ranks are added ends the adding", "[launcher]") {
  Nodes all;
  all.nodes.take(node::AddRanks{7, 1, {1}, {}, {}});
  all.nodes.lost(1, "its agent has ended");
  const auto added = std::find_if(all.heard.begin(), all.heard.end(), [](const auto& message) {
    return std::holds_alternative<node::RanksAdded>(message);
  });
  REQUIRE(added != all.heard.end());
  CHECK_FALSE(std::get<node::RanksAdded>(*added).error.empty());
  all.forget();
  all.nodes.take(0, node::RanksAdded{7, 0, {}, "ea"});
  CHECK(all.heard.empty());
}

TEST_CASE("job nodes: ranks are added on the nodes that are left", "[launcher]") {
  Nodes all;
  all.nodes.lost(0, "its agent has ended");
  all.forget();
  all.nodes.take(node::AddRanks{7, 1, {1}, {}, {}});
  CHECK(all.told[0].empty());
  all.nodes.take(1, node::RanksAdded{7, 0, {}, "more of b"});
  REQUIRE(all.last<node::MeetRanks>(1));
  CHECK(all.last<node::MeetRanks>(1)->endpoints == std::vector<std::string>{"", "more of b"});
  all.nodes.take(1, node::RanksMet{7, {}});
  REQUIRE(all.last_heard<node::RanksAdded>());
  CHECK(all.last_heard<node::RanksAdded>()->error.empty());
}

TEST_CASE("job nodes: more ranks than may be added are refused", "[launcher]") {
  Nodes all;
  all.nodes.take(node::AddRanks{7, 1, {1}, {}, {}});
  all.forget();
  std::vector<std::uint32_t> many(spawned_count_max, 1);
  all.nodes.take(node::AddRanks{8, spawned_count_max, many, {}, {}});
  CHECK(all.told[0].empty());
  CHECK(all.last_heard<node::RanksAdded>()->error.find("may start 1024 processes") != std::string::npos);
}

TEST_CASE("job nodes: a node without ranks needs no program until ranks are added there", "[launcher]") {
  std::vector<node::ToNode> told;
  JobNodes nodes(
      [&](std::uint32_t node, node::ToNode message) {
        if (node == 1) told.push_back(std::move(message));
      },
      [](node::FromNode) {});
  control::Start job;
  job.nodes = {{"a", {}}, {"b", {"ssh", "b"}}};
  job.node_of_rank = {0};
  nodes.begin(job);
  node::Prepare prepare;
  prepare.node_of_rank = job.node_of_rank;
  prepare.programs = {"/bin/program"};
  nodes.take(prepare);
  nodes.joined(0);
  nodes.joined(1);
  REQUIRE(told.size() == 1);
  CHECK(std::get<node::Prepare>(told[0]).programs.empty());
}

TEST_CASE("job nodes: the other nodes hear what becomes of a rank", "[launcher]") {
  Nodes all;
  node::Ended end;
  end.slot = 1;
  end.view.state = RankState::in_program;
  all.nodes.take(1, end);
  REQUIRE(all.last<node::SetRemote>(0));
  CHECK(all.last<node::SetRemote>(0)->slot == 1);
  CHECK(all.last<node::SetRemote>(0)->state == RemoteState::dead);
  all.nodes.take(1, node::Done{1, {}});
  CHECK(all.last<node::SetRemote>(0)->state == RemoteState::done);
  CHECK(all.count<node::SetRemote>(1) == 0);
  all.forget();
  end.slot = 2;
  end.view.state = RankState::finalized;  // its peers may still take what it has sent
  all.nodes.take(0, end);
  CHECK(all.told[1].empty());
}

TEST_CASE("job nodes: a lost node ends the job, and its ranks are done", "[launcher]") {
  Nodes all;
  all.nodes.take(node::Survey{});
  all.nodes.take(0, node::Surveyed{2, 0});
  all.nodes.lost(1, "its agent was killed");
  REQUIRE(all.heard.size() == 3);
  CHECK(std::get<node::NodeLost>(all.heard[0]).node == 1);
  CHECK(std::get<node::NodeLost>(all.heard[0]).title == "'b'");
  CHECK(std::get<node::NodeLost>(all.heard[0]).why == "its agent was killed");
  CHECK(std::get<node::Surveyed>(all.heard[1]).ranks_running == 2);
  CHECK(std::get<node::Done>(all.heard[2]).slot == 1);
  all.forget();
  all.nodes.take(1, node::Done{1, {}});
  all.nodes.take(node::KillAll{});
  CHECK(all.heard.empty());
  CHECK(all.told[1].empty());
  CHECK(all.last<node::KillAll>(0));
}

TEST_CASE("job nodes: a cut has the parts of all nodes, or is none", "[launcher]") {
  Nodes all;
  all.nodes.take(node::MakeCut{7});
  CHECK(all.last<node::MakeCut>(0)->next_cut == 7);
  CHECK(all.last<node::MakeCut>(1)->next_cut == 7);
  all.nodes.take(1, node::Cut{{{1, RankJournal::outcomes, 0, {{1, 2, 3}}}}, {}});
  CHECK(all.heard.empty());
  all.nodes.take(0, node::Cut{{{0, RankJournal::ledger, 4, {{5, 6, 7}}}}, {}});
  REQUIRE(all.last_heard<node::Cut>());
  CHECK(all.last_heard<node::Cut>()->pieces.size() == 2);
  CHECK(all.last_heard<node::Cut>()->error.empty());
  all.nodes.take(node::MakeCut{8});
  all.nodes.take(0, node::Cut{});
  all.nodes.take(1, node::Cut{{}, "damaged"});
  CHECK(all.last_heard<node::Cut>()->error == "the node 'b': damaged");
  all.forget();
  all.nodes.take(node::MakeCut{9});
  all.nodes.take(0, node::Cut{});
  all.nodes.lost(1, "its agent was killed");
  for (const auto& message : all.heard) CHECK_FALSE(std::holds_alternative<node::Cut>(message));
}
