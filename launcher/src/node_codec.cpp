#include "node_codec.hpp"

#include "job_control_fields.hpp"
#include "llamada/waits/report.hpp"
#include "message_stream.hpp"
#include "node_value_fields.hpp"

// The fields of each message, listed once for both directions, in the order of node_messages.hpp.

namespace llamada::launcher {

namespace node {

constexpr std::string_view ends_of(const ToNode* /*stream*/) { return "the coordinator and a node"; }
constexpr std::string_view ends_of(const FromNode* /*stream*/) { return "a node and the coordinator"; }

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Prepare>& message) {
  coder.numbers(message.rank_count, message.job_number);
  coder.text(message.profile);
  coder.numbers(message.binding, message.mapping, message.own_node);
  coder.list(message.node_of_rank, as_number);
  coder.texts(message.programs);
  coder.texts(message.environment);
  coder.text(message.working_directory);
  coder.choice(message.link, LinkWish::ethernet);
  coder.flag(message.makes_cuts);
  coder.numbers(message.node_lease_ns);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<RestoreJournal>& message) {
  fields(coder, message.piece);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<MakeCut>& message) {
  coder.numbers(message.next_cut);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<MeetNodes>& message) {
  coder.texts(message.endpoints);
  coder.numbers(message.link.udp_bytes, message.link.ethernet_mtu);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<ProbeNodes>& message) {
  coder.texts(message.endpoints);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SetRemote>& message) {
  coder.numbers(message.slot);
  coder.choice(message.state, RemoteState::finalized);
  coder.numbers(message.incarnation);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<StartRanks>& message) {
  coder.list(message.ranks, [](Coder& each, typename Coder::template Value<RankStart>& rank) {
    each.numbers(rank.slot, rank.incarnation, rank.token);
    each.text(rank.identity);
    each.text(rank.program);
    each.texts(rank.arguments);
    each.text(rank.working_directory);
    each.texts(rank.environment);
    each.text(rank.cpus);
  });
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AddRanks>& message) {
  coder.numbers(message.question, message.count);
  coder.list(message.nodes, as_number);
  coder.list(message.needs, [](Coder& each, typename Coder::template Value<AddRanks::Need>& need) {
    each.numbers(need.node);
    each.text(need.program);
    each.text(need.working_directory);
  });
  coder.texts(message.environment);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<MeetRanks>& message) {
  coder.numbers(message.question);
  coder.texts(message.endpoints);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<DropRanks>& message) {
  coder.numbers(message.first, message.count);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Drain>& message) {
  coder.numbers(message.slot);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Fence>& message) {
  coder.numbers(message.slot);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SignalRank>& message) {
  coder.numbers(message.slot, message.number);
  coder.flag(message.whole_group);
}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<EndJob>& /*message*/) {}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<KillAll>& /*message*/) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<HoldOutput>& message) {
  coder.flag(message.hold);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AnswerSpawn>& message) {
  coder.numbers(message.question, message.answer.first, message.answer.count);
  coder.text(message.answer.error);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AnswerReach>& message) {
  coder.numbers(message.question, message.written[0], message.written[1]);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AnswerShared>& message) {
  coder.numbers(message.question);
  fields(coder, message.answer);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AnswerAgreement>& message) {
  coder.numbers(message.question);
  coder.flag(message.is_decided);
  fields(coder, message.decision);
}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<AskAgain>& /*message*/) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SetLost>& message) {
  coder.numbers(message.lost);
  coder.flag(message.with_node);
}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<SetUnprotected>& /*message*/) {}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<Survey>& /*message*/) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<KillRank>& message) {
  coder.numbers(message.slot);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<HoldLeases>& message) {
  coder.flag(message.hold);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<LimitLog>& message) {
  coder.numbers(message.size_bytes);
}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<Die>& /*message*/) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<KillNode>& message) {
  coder.numbers(message.node);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<PauseNode>& message) {
  coder.numbers(message.node, message.length_ns);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<CutNode>& message) {
  coder.numbers(message.node, message.length_ns);
  coder.list(message.from, as_number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AnswerLease>& message) {
  coder.numbers(message.question);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Unheard>& message) {
  coder.list(message.nodes, as_number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AskLease>& message) {
  coder.numbers(message.question);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AnswerInject>& message) {
  coder.numbers(message.question);
  coder.flag(message.answer.accepted);
  coder.text(message.answer.text);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AskWaits>& message) {
  coder.numbers(message.question);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AskStack>& message) {
  coder.numbers(message.question, message.slot);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Ready>& message) {
  coder.text(message.host);
  coder.text(message.endpoints);
  coder.texts(message.cpu_places);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Probed>& message) {
  coder.text(message.probe.why_no_ethernet);
  coder.list(message.probe.pairs, [](Coder& each, typename Coder::template Value<PairProbe>& pair) {
    each.numbers(pair.udp_bytes, pair.ethernet_mtu, pair.round_trip_ns, pair.clock_ahead_ns);
  });
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Checked>& message) {
  coder.text(message.report);
  coder.flag(message.is_good);
}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<Met>& /*message*/) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<NotReady>& message) {
  coder.text(message.why);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<RanksAdded>& message) {
  coder.numbers(message.question, message.first);
  coder.text(message.error);
  coder.text(message.endpoints);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<RanksMet>& message) {
  coder.numbers(message.question);
  coder.text(message.error);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Started>& message) {
  coder.numbers(message.slot, message.pid);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<CannotStart>& message) {
  coder.numbers(message.slot, message.error_number);
  coder.text(message.why);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Attached>& message) {
  coder.numbers(message.slot, message.pid);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Ended>& message) {
  coder.numbers(message.slot, message.pid, message.root_status);
  coder.optional_number(message.attached_status);
  coder.flag(message.behind_wrapper);
  fields(coder, message.view);
  coder.flag(message.others_in_mpi);
  coder.text(message.core_file);
  coder.numbers(message.oom_kills);
  coder.text(message.memory_of);
  coder.flag(message.is_adopted);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Fenced>& message) {
  coder.numbers(message.slot);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Done>& message) {
  coder.numbers(message.slot);
  fields(coder, message.view);
  coder.numbers(message.node);
  coder.list(message.driver_drops, as_number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Said>& message) {
  coder.numbers(message.slot);
  coder.choice(message.kind, ArenaEventKind::inject);
  coder.numbers(message.code);
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Live>& message) {
  coder.numbers(message.slot);
  fields(coder, message.view);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Damaged>& message) {
  coder.numbers(message.slot, message.finder);
  coder.text(message.what);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<CodeChanged>& message) {
  coder.numbers(message.slot);
  coder.text(message.path);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Reached>& message) {
  coder.numbers(message.slot);
  coder.choice(message.place, ReplayPlace::unusable);
  coder.flag(message.writes_alone);
  coder.numbers(message.question, message.checkpoint, message.written[0], message.written[1]);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SpawnWanted>& message) {
  coder.numbers(message.slot);
  fields(coder, message.question);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SharedWanted>& message) {
  coder.numbers(message.slot);
  fields(coder, message.question);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AgreementWanted>& message) {
  coder.numbers(message.slot);
  fields(coder, message.question);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Surveyed>& message) {
  coder.numbers(message.ranks_running, message.ranks_in_mpi);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<LeaseFound>& message) {
  coder.numbers(message.slot, message.incarnation);
  fields(coder, message.finding);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<InjectWanted>& message) {
  coder.numbers(message.question);
  coder.text(message.rule);
}

template <typename Coder>
void fields(Coder& /*coder*/, typename Coder::template Value<Quiet>& /*message*/) {}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Overdue>& message) {
  coder.numbers(message.slot);
  coder.text(message.call);
  coder.numbers(message.call_index, message.stay_ns);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Waits>& message) {
  coder.numbers(message.question);
  coder.list(message.ranks, [](Coder& each, typename Coder::template Value<RankWaits>& rank) {
    each.numbers(rank.slot);
    each.choice(rank.course, waits::SurveyedRank::Course::ended);
    each.optional_block(
        rank.report, [](const waits::Report& report) { return waits::encode(report, stream_body_bytes_max); },
        waits::decode);
  });
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Stack>& message) {
  coder.numbers(message.question);
  coder.text(message.text);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<OtherMpi>& message) {
  coder.text(message.library);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<NodeFailed>& message) {
  coder.text(message.why);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<Cut>& message) {
  coder.list(message.pieces, as_fields);
  coder.text(message.error);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<CodeMapped>& message) {
  coder.numbers(message.slot);
  coder.texts(message.lines);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<NodeLost>& message) {
  coder.numbers(message.node);
  coder.text(message.title);
  coder.text(message.why);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<NodeStopping>& message) {
  coder.numbers(message.node);
}

std::vector<std::byte> encode(const ToNode& message) { return encode_message(message); }
std::vector<std::byte> encode(const FromNode& message) { return encode_message(message); }

}  // namespace node

template class StreamDecoder<node::ToNode>;
template class StreamDecoder<node::FromNode>;

}  // namespace llamada::launcher
