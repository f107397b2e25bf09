#include "wait_watch.hpp"

#include <algorithm>
#include <utility>

namespace llamada::launcher {

std::uint64_t WaitWatch::ask() {
  actions_.ask(++last_question_);
  return last_question_;
}

void WaitWatch::quiet() {
  if (stage_ != Stage::idle || !told_.empty()) return;
  stage_ = Stage::first_look;
  ask();
}

void WaitWatch::survey(Told told) {
  told_.push_back(std::move(told));
  // A look that was under way begins anew when the ranks are quiet again.
  stage_ = Stage::idle;
  ask();
}

void WaitWatch::take(node::Waits message) {
  if (message.question != last_question_) return;
  waits::Survey survey = survey_of(std::move(message));
  const auto told = std::exchange(told_, {});
  for (const Told& each : told) each(survey);
  if (told.empty()) take_look(std::move(survey));
}

void WaitWatch::stack(std::uint32_t slot, std::function<void(std::string)> told) {
  const std::uint64_t question = ++last_stack_;
  stacks_[question] = std::move(told);
  actions_.ask_stack(question, slot);
}

void WaitWatch::take(node::Stack message) {
  const auto found = stacks_.find(message.question);
  if (found == stacks_.end()) return;
  const auto told = std::move(found->second);
  stacks_.erase(found);
  told(std::move(message.text));
}

void WaitWatch::take_look(waits::Survey survey) {
  if (stage_ == Stage::first_look) {
    const auto stuck = waits::find_stuck(survey);
    stage_ = Stage::idle;
    if (std::none_of(stuck.begin(), stuck.end(), [](bool each) { return each; })) return;
    first_ = std::move(survey);
    stage_ = Stage::between;
    loop_.after(between_looks, [this] {
      if (stage_ != Stage::between) return;
      stage_ = Stage::second_look;
      ask();
    });
  } else if (stage_ == Stage::second_look) {
    stage_ = Stage::idle;
    const waits::Verdict verdict = waits::judge(first_, survey);
    const bool any_new = std::any_of(verdict.stuck.begin(), verdict.stuck.end(),
                                     [this](std::uint32_t rank) { return !accused_.contains(rank); });
    if (!any_new) return;
    accused_.insert(verdict.stuck.begin(), verdict.stuck.end());
    actions_.on_deadlock(survey, verdict);
  }
}

waits::Survey WaitWatch::survey_of(node::Waits message) const {
  waits::Survey survey;
  for (node::RankWaits& rank : message.ranks) {
    if (rank.slot >= survey.size()) survey.resize(rank.slot + std::size_t{1});
    survey[rank.slot] = {rank.course, std::move(rank.report), {}};
  }
  for (std::uint32_t slot = 0; slot < survey.size(); ++slot) survey[slot].name = actions_.name_of(slot);
  return survey;
}

}  // namespace llamada::launcher
