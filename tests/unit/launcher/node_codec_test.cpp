#include "node_codec.hpp"

#include "llamada/base/random.hpp"
#include "test.hpp"

// The messages have no ==: of what was read the bytes are compared, which list every field.

using namespace llamada;
using namespace llamada::launcher;

namespace {

using Bytes = std::vector<std::byte>;

RankView some_view() {
  RankView view{RankState::exiting, -3, 77, 2, true, true, false, "MPI_Recv", 1234, {}};
  for (std::size_t i = 0; i < view.counters.size(); ++i) view.counters[i] = i << 40;
  return view;
}

waits::Report some_report() {
  waits::Report report;
  report.survey = 3;
  report.call_index = 17;
  report.add_awaited({});
  return report;
}

std::vector<node::ToNode> some_to_node() {
  const node::RankStart start{
      3, 2, 0xfedcba9876543210, "host=a\n", "/bin/true", {"true", "", "x y"}, "/tmp", {"A=1", "B="}, "0,4"};
  return {node::Prepare{4,
                        0x0123456789abcdef,
                        "a\nprofile",
                        2,
                        1,
                        1,
                        {0, 1, 1, 0},
                        {"/bin/true", "/bin/sh"},
                        {"A=1"},
                        "/tmp",
                        LinkWish::udp},
          node::MeetNodes{{"here", std::string("\0there", 6)}, {1400, 1496}},
          node::ProbeNodes{{"here", "there"}},
          node::SetRemote{3, RemoteState::dead, 2},
          node::StartRanks{{start, start}},
          node::AddRanks{7, 2, {0, 1}, {{1, "/bin/program", "/there"}}, {"A=b"}},
          node::MeetRanks{7, {"one", "two"}},
          node::DropRanks{4, 2},
          node::Drain{1},
          node::Fence{2},
          node::SignalRank{3, 15, false},
          node::EndJob{},
          node::KillAll{},
          node::HoldOutput{true},
          node::AnswerSpawn{9, {4, 2, "no room"}},
          node::AnswerReach{10, {std::uint64_t{3} << 33, 4}},
          node::SetUnprotected{},
          node::Survey{},
          node::KillRank{1},
          node::HoldLeases{true},
          node::LimitLog{100},
          node::Die{},
          node::AnswerInject{3, {true, "kill any"}},
          node::AskWaits{4},
          node::AskStack{5, 1},
          node::AnswerShared{6, {true, true, Errc::already_exists, "port", 7}},
          node::AnswerAgreement{7, true, {1, 2, 3, 4, {5, 6}, true}},
          node::AskAgain{},
          node::SetLost{3, true},
          node::RestoreJournal{{1, RankJournal::ledger, 5, {{1, 2, 3}, {4, 5, 6}}}},
          node::MakeCut{9},
          node::KillNode{2},
          node::PauseNode{2, 5'000'000'000},
          node::CutNode{2, {0, 3}, 5'000'000'000},
          node::AnswerLease{8},
          control::Input{std::string("a\0b", 3)}};
}

std::vector<node::FromNode> some_from_node() {
  const SharedQuestion shared{SharedQuestion::Kind::set, true, "name", "value", 1, 2, 3, 4};
  const SpawnQuestion question{{{2, "program", "/there", "/bin:/sbin", "host", {"a", "b"}}}, 8};
  return {node::Ready{"host", std::string("a\0b", 3), {"0,4", "1"}},
          node::Probed{{"no right", {{1472, 0, 5000, -7}, {1400, 1496, 0, 8}}}},
          node::Checked{"table", true},
          node::Met{},
          node::NotReady{"why"},
          node::RanksAdded{7, 4, "no room", "endpoints"},
          node::RanksMet{7, "why"},
          node::Started{1, 4711},
          node::CannotStart{1, 2, "why"},
          node::Attached{1, 4712},
          node::Ended{1, 4711, 0x100, 9, true, some_view(), true, "/tmp/core", 1, "the machine", true},
          node::Ended{1, 4711, 0, std::nullopt, false, {}, false, "", 0, ""},
          node::Fenced{1},
          node::Done{1, some_view(), 2, {0, 7, 1}},
          node::Said{1, ArenaEventKind::diverged, -1, "text"},
          node::Live{1, some_view()},
          node::Damaged{1, 2, "what"},
          node::CodeChanged{1, "/lib/x"},
          node::Reached{1, ReplayPlace::last_call_ended, true, 5, 0, {}},
          node::Reached{1, ReplayPlace::checkpoint, false, 6, 0x123456, {}},
          node::Reached{1, ReplayPlace::restored, false, 7, 0, {std::uint64_t{3} << 33, 4}},
          node::SpawnWanted{1, question},
          node::SharedWanted{1, shared},
          node::AgreementWanted{1, {{1, 2, 3, 4, 5, 6, {7, 8}, {8}}, 9}},
          node::Surveyed{4, 3},
          node::LeaseFound{1, 2, {LeaseFinding::Kind::debugger, Silence::frozen, -5, 4711}},
          node::InjectWanted{3, "kill any"},
          node::Quiet{},
          node::Overdue{1, "MPI_Recv", 5, 2'250'000'000},
          node::Waits{4,
                      {{0, waits::SurveyedRank::Course::runs, std::nullopt},
                       {1, waits::SurveyedRank::Course::waits, some_report()}}},
          node::Stack{5, "main\n"},
          node::OtherMpi{"libmpi.so.40"},
          node::NodeFailed{"why"},
          node::Cut{{{1, RankJournal::ledger, 5, {{1, 2, 3}, {4, 5, 6}}}}, "damaged"},
          node::CodeMapped{2, {"/lib/libc.so.6 10 abc"}},
          node::NodeLost{3, "'b' (hosts:3)", "its agent ended"},
          node::AskLease{9},
          node::Unheard{{1, 4}},
          node::NodeStopping{3},
          control::Output{1, 2, "text"},
          control::InputTaken{100},
          control::Notice{"mpirun: x\n"}};
}

template <typename Message>
void check_each_comes_back(const std::vector<Message>& messages) {
  std::vector<bool> seen(std::variant_size_v<Message>);
  StreamDecoder<Message> decoder;
  for (const Message& message : messages) {
    const Bytes bytes = node::encode(message);
    for (const std::byte byte : std::span(bytes).first(bytes.size() - 1)) {
      decoder.append({&byte, 1});
      const auto early = decoder.next();
      REQUIRE(early);
      REQUIRE_FALSE(*early);
    }
    decoder.append(std::span(bytes).last(1));
    const auto read = decoder.next();
    REQUIRE(read);
    REQUIRE(*read);
    CHECK((*read)->index() == message.index());
    CHECK(node::encode(**read) == bytes);
    seen[message.index()] = true;
  }
  CHECK(seen == std::vector<bool>(seen.size(), true));  // a message of each kind
}

template <typename Message>
void check_mutations(const std::vector<Message>& messages, std::uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < 20'000; ++round) {
    Bytes stream;
    for (const Message& message : messages) {
      if (!random.chance(1, 3)) continue;
      const Bytes bytes = node::encode(message);
      stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    for (std::uint64_t changes = random.below(5); changes > 0 && !stream.empty(); --changes)
      stream[random.below(stream.size())] = static_cast<std::byte>(random.below(256));
    StreamDecoder<Message> decoder;
    decoder.append(stream);
    for (;;) {
      const auto message = decoder.next();
      if (!message || !*message) break;
      (void)node::encode(**message);
    }
  }
}

}  // namespace

TEST_CASE("node codec: each message comes back as it was, byte by byte", "[launcher]") {
  check_each_comes_back(some_to_node());
  check_each_comes_back(some_from_node());
}

TEST_CASE("node codec: a choice or a flag that there is not is refused", "[launcher]") {
  Bytes reached = node::encode(node::FromNode(node::Reached{1, ReplayPlace::over, true, 5, 0, {}}));
  for (const std::size_t at : {8 + 4, 8 + 8}) {
    Bytes bad = reached;
    bad[at] = std::byte{9};
    StreamDecoder<node::FromNode> decoder;
    decoder.append(bad);
    const auto message = decoder.next();
    REQUIRE_FALSE(message);
    CHECK(message.error().code() == Errc::parse_error);
    CHECK(message.error().text().find("between a node and the coordinator") != std::string::npos);
  }
}

TEST_CASE("node codec: mutated streams parse or are refused", "[launcher]") {
  check_mutations(some_to_node(), 5);
  check_mutations(some_from_node(), 6);
}
