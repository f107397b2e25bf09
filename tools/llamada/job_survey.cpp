#include "job_survey.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "llamada/waits/report_area.hpp"

namespace llamada::tools {
namespace {

using llamanet::Inspector;
using llamanet::SlotState;
using Course = waits::SurveyedRank::Course;

/// A rank that sleeps looks at least each 100 ms; later on a loaded machine.
constexpr std::chrono::milliseconds answer_max{500};
constexpr std::chrono::milliseconds between_looks{5};

/// A rank that has called MPI_Finalize may open a session.
bool has_ended(const Inspector::Slot& slot) { return slot.state == SlotState::done || is_lost(slot.state); }

bool is_in_call(const Inspector::Slot& slot) {
  const auto view = slot.view();
  return slot.state == SlotState::attached && view.state() == log::ArenaState::in_program &&
         view.incarnation() == slot.incarnation && view.call_id() != 0;
}

/// `answers` becomes false if the rank is in a call and has not answered yet.
waits::SurveyedRank rank_of(const Inspector::Slot& slot, std::uint32_t survey, bool& answers) {
  waits::SurveyedRank rank;
  rank.name = fmt::format("rank {}", slot.index);
  if (has_ended(slot)) {
    rank.course = Course::ended;
    return rank;
  }
  rank.node = slot.other_node;
  if (!is_in_call(slot)) return rank;
  auto report = waits::read_report(slot.view().user_area());
  answers = report && report->incarnation == slot.incarnation &&
            report->call_index == slot.view().call_index() &&
            static_cast<std::int32_t>(report->survey - survey) >= 0;
  if (!answers) return rank;
  rank.course = Course::waits;
  rank.report = std::move(report);
  return rank;
}

waits::Survey look(const Inspector& driver, std::uint32_t survey, bool& all_answer) {
  waits::Survey ranks;
  all_answer = true;
  for (const auto& slot : driver.slots()) {
    bool answers = true;
    // Slots that are free are not among them.
    for (auto missing = static_cast<std::uint32_t>(ranks.size()); missing < slot.index; ++missing)
      ranks.push_back({Course::ended, {}, fmt::format("rank {}", missing)});
    ranks.push_back(rank_of(slot, survey, answers));
    all_answer = all_answer && answers;
  }
  return ranks;
}

}  // namespace

Result<waits::Survey> survey_job(Inspector& driver) {
  auto survey = driver.raise_survey();
  if (!survey) return propagate(survey);
  const auto until = std::chrono::steady_clock::now() + answer_max;
  for (;;) {
    bool all_answer = true;
    waits::Survey ranks = look(driver, *survey, all_answer);
    if (all_answer || std::chrono::steady_clock::now() > until) return ranks;
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace llamada::tools
