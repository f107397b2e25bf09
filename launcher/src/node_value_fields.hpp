#pragma once

#include "llamada/launcher/job_arenas.hpp"
#include "message_stream.hpp"
#include "node_messages.hpp"

// The fields of the values that messages between the coordinator and a node carry, listed once for both
// directions.

namespace llamada::launcher {

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<RankView>& view) {
  coder.choice(view.state, RankState::exiting);
  coder.numbers(view.exit_code, view.pid, view.incarnation);
  coder.flag(view.replaying);
  coder.flag(view.asleep);
  coder.flag(view.damaged);
  coder.text(view.call);
  coder.numbers(view.call_index);
  for (auto& counter : view.counters) coder.numbers(counter);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SpawnQuestion>& question) {
  coder.list(question.commands, [](Coder& each, typename Coder::template Value<SpawnCommand>& command) {
    each.numbers(command.process_count);
    each.text(command.program);
    each.text(command.working_directory);
    each.text(command.search_path);
    each.text(command.host);
    each.texts(command.arguments);
  });
  coder.numbers(question.number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SharedQuestion>& question) {
  coder.choice(question.kind, SharedQuestion::Kind::release);
  coder.flag(question.is_port);
  coder.text(question.name);
  coder.text(question.value);
  coder.numbers(question.number_name, question.operation, question.operand, question.number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<SharedAnswer>& answer) {
  coder.flag(answer.is_about_name);
  coder.flag(answer.done);
  coder.choice(answer.code, Errc::illegal_operation);
  coder.text(answer.value);
  coder.numbers(answer.before);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AgreementQuestion>& question) {
  auto& vote = question.vote;
  coder.numbers(vote.group, vote.sequence, vote.flags, vote.common, vote.own, vote.count);
  coder.list(vote.members, as_number);
  coder.list(vote.known_lost, as_number);
  coder.numbers(question.number);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<AgreementDecision>& decision) {
  coder.numbers(decision.flags, decision.common, decision.own, decision.count);
  coder.list(decision.lost, as_number);
  coder.flag(decision.all_knew);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<LeaseFinding>& finding) {
  coder.choice(finding.kind, LeaseFinding::Kind::lingering);
  coder.choice(finding.silence, Silence::outside_mpi);
  coder.numbers(finding.silent_for_ns, finding.tracer);
}

template <typename Coder>
void fields(Coder& coder, typename Coder::template Value<JournalPiece>& piece) {
  coder.numbers(piece.rank);
  coder.choice(piece.journal, RankJournal::ledger);
  coder.numbers(piece.first);
  coder.list(piece.entries, [](Coder& each, typename Coder::template Value<log::JournalEntry>& entry) {
    each.numbers(entry.head, entry.count, entry.value);
  });
}

}  // namespace llamada::launcher
