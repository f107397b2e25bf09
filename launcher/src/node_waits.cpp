#include "node_waits.hpp"

#include <algorithm>
#include <utility>

namespace llamada::launcher {
namespace {

using Course = waits::SurveyedRank::Course;

/// Whether a rank will never do anything for others again. One that has called MPI_Finalize may open a
/// session.
bool has_ended(const RankProcess& rank) {
  return rank.phase == ProcessPhase::draining || rank.phase == ProcessPhase::finished;
}

/// Whether the view is of a rank between MPI_Init and MPI_Finalize.
bool is_in_program(const RankProcess& rank, const RankView& view) {
  return rank.phase == ProcessPhase::running && rank.attached != 0 && view.incarnation == rank.incarnation &&
         view.state == RankState::in_program;
}

}  // namespace

void NodeWaits::begin(JobArenas& arenas, qos::Duration deadline) {
  arenas_ = &arenas;
  deadline_ = deadline;
  if (deadline != qos::duration_infinite)
    between_looks_ = std::clamp<std::chrono::nanoseconds>(deadline / 4, between_looks_min, between_looks_max);
  loop_.after(between_looks_, [this] { look(); });
}

void NodeWaits::look() {
  loop_.after(between_looks_, [this] { look(); });
  stays_.resize(ranks_.size());
  bool others_run = false, any_long = false, all_twice = true, any = false;
  std::uint64_t signature = ranks_.size();
  for (const RankProcess& rank : ranks_) {
    if (!look_at(rank, others_run)) continue;
    const Stay& stay = stays_[rank.slot];
    any = true;
    all_twice = all_twice && stay.looks >= 2;
    const bool is_long = stay.looks >= looks_before_asking;
    any_long = any_long || is_long;
    if (is_long || !others_run) signature = signature * 1'000'003 + rank.slot * 31 + stay.call_index;
  }
  if (!any || !(others_run ? any_long : all_twice) || !is_time_to_ask(signature)) return;
  tell_(node::Quiet{});
}

/// Whether the rank sleeps in a call.
bool NodeWaits::look_at(const RankProcess& rank, bool& others_run) {
  if (rank.phase == ProcessPhase::none) return false;  // not started yet, or another node's
  Stay& stay = stays_[rank.slot];
  const RankView view = arenas_->view(rank.slot);
  if (has_ended(rank)) {
    stay = {};
    return false;
  }
  if (!is_in_program(rank, view) || view.call.empty()) {
    others_run = true;
    stay = {};
    return false;
  }
  const bool is_same = stay.call_index == view.call_index && stay.incarnation == view.incarnation;
  if (!is_same) stay = {view.call_index, view.incarnation, 0, std::chrono::steady_clock::now(), false};
  look_at_deadline(rank, stay, view);
  if (!view.asleep) {
    others_run = true;
    stay.looks = 0;
    return false;
  }
  ++stay.looks;
  return true;
}

void NodeWaits::look_at_deadline(const RankProcess& rank, Stay& stay, const RankView& view) {
  const auto time = std::chrono::steady_clock::now() - stay.since;
  if (deadline_ == qos::duration_infinite || stay.is_overdue || time < deadline_) return;
  stay.is_overdue = true;
  tell_(node::Overdue{rank.slot, view.call, view.call_index, std::chrono::nanoseconds(time).count()});
}

bool NodeWaits::is_time_to_ask(std::uint64_t signature) {
  const auto now = std::chrono::steady_clock::now();
  if (std::exchange(asked_signature_, signature) != signature)
    asked_again_ = asked_again_first;
  else if (now < next_ask_)
    return false;
  else
    asked_again_ = std::min(2 * asked_again_, asked_again_max);
  next_ask_ = now + asked_again_;
  return true;
}

void NodeWaits::ask(std::uint64_t question) {
  question_ = question;
  if (arenas_ == nullptr) return tell_(node::Waits{question, {}});
  survey_ = arenas_->raise_survey();
  collects_until_ = std::chrono::steady_clock::now() + answer_max;
  if (std::exchange(is_collecting_, true)) return;
  loop_.after(between_collections, [this] { collect(); });
}

void NodeWaits::collect() {
  node::Waits waits{question_, {}};
  bool all_answer = true;
  for (const RankProcess& rank : ranks_) {
    if (rank.phase == ProcessPhase::none) continue;
    bool answers = true;
    waits.ranks.push_back(waits_of(rank, answers));
    all_answer = all_answer && answers;
  }
  if (!all_answer && std::chrono::steady_clock::now() < collects_until_) {
    loop_.after(between_collections, [this] { collect(); });
    return;
  }
  is_collecting_ = false;
  tell_(std::move(waits));
}

/// `answers` becomes false if the rank sleeps, or is in a call in which it may sleep soon, and has not
/// answered yet.
node::RankWaits NodeWaits::waits_of(const RankProcess& rank, bool& answers) const {
  node::RankWaits waits;
  waits.slot = rank.slot;
  if (has_ended(rank)) {
    waits.course = Course::ended;
    return waits;
  }
  const RankView view = arenas_->view(rank.slot);
  if (!is_in_program(rank, view) || view.call.empty()) return waits;
  auto report = arenas_->wait_report(rank.slot);
  const bool is_answer = report && report->survey == survey_ && report->incarnation == view.incarnation &&
                         report->call_index == view.call_index;
  if (is_answer) {
    waits.course = Course::waits;
    waits.report = std::move(report);
  } else {
    answers = false;
  }
  return waits;
}

}  // namespace llamada::launcher
