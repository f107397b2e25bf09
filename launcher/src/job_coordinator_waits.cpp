#include <algorithm>
#include <string_view>
#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/waits/text.hpp"

// What ranks wait for: deadlocks, and who waits for whom.

namespace llamada::launcher {
namespace {

/// Lines, each with four spaces before it, and a line end behind the last.
std::string indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += fmt::format("    {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

void JobCoordinator::begin_watching() {
  WaitWatch::Actions actions;
  actions.ask = [this](std::uint64_t question) { tell_node_(node::AskWaits{question}); };
  actions.ask_stack = [this](std::uint64_t question, std::uint32_t slot) {
    tell_node_(node::AskStack{question, slot});
  };
  actions.name_of = [this](std::uint32_t slot) {
    const JobRank* rank = rank_at(slot);
    return rank && worlds_.contains(rank->world) ? name_of(*rank) : fmt::format("rank {}", slot);
  };
  actions.on_deadlock = [this](const waits::Survey& survey, const waits::Verdict& verdict) {
    deadlocked(survey, verdict);
  };
  waits_ = std::make_unique<WaitWatch>(loop_, std::move(actions));
}

void JobCoordinator::on(node::Quiet&&) {
  if (!ending_code_ && !finished_) waits_->quiet();
}

void JobCoordinator::on(node::Overdue&& message) {
  const JobRank* rank = rank_at(message.slot);
  if (!rank || finished_ || ending_code_) return;
  const std::string name = name_of(*rank);
  waits_->survey([this, name, message = std::move(message)](const waits::Survey& survey) {
    // It may have gone on meanwhile.
    std::string waits_for;
    if (message.slot < survey.size() && survey[message.slot].report &&
        survey[message.slot].report->call_index == message.call_index)
      waits_for = waits::describe_wait(survey, message.slot);
    const double stay_s = static_cast<double>(message.stay_ns) * 1e-9;
    report_.overdue.push_back({message.slot, message.call, message.call_index, stay_s, waits_for});
    say(fmt::format("mpirun: DEADLINE: {} has been in {} (its MPI call {}) for {:.1f} s{}{}.\n", name,
                    message.call, message.call_index, stay_s, waits_for.empty() ? "" : ": ", waits_for));
  });
}

void JobCoordinator::on(node::Waits&& message) {
  if (!finished_) waits_->take(std::move(message));
}

void JobCoordinator::deadlocked(const waits::Survey& survey, const waits::Verdict& verdict) {
  if (ending_code_) return;
  report_.deadlocks.push_back(waits::describe_deadlock(survey, verdict));
  const std::string text = fmt::format("mpirun: {}\n", report_.deadlocks.back());
  if (job_.ends_at_deadlock != 0)
    return begin_ending(exit_deadlock, text + "mpirun: the job is ended (--on-deadlock end).\n");
  say(text);
}

void JobCoordinator::explain(std::string why, std::function<void()> then) {
  if (!waits_ || ending_code_) return then();
  waits_->survey([this, why = std::move(why), then = std::move(then)](const waits::Survey& survey) {
    say(why + waits::describe_job(survey));
    const auto last = waits::find_last(survey);
    if (!last) return then();
    waits_->stack(*last, [this, then, name = survey[*last].name](const std::string& stack) {
      if (!stack.empty()) say(fmt::format("  The stack of {}:\n{}", name, indented(stack)));
      then();
    });
  });
}

}  // namespace llamada::launcher
