#include "llamada/waits/judge.hpp"

#include <algorithm>
#include <string_view>

namespace llamada::waits {
namespace {

using Course = SurveyedRank::Course;

bool is_blocked(const SurveyedRank& rank) {
  if (rank.course != Course::waits || !rank.report) return false;
  const Report& report = *rank.report;
  if (report.is_under_way || report.is_replaying || report.has_other_threads) return false;
  // Of those that were cut off any might suffice.
  return !report.awaited.empty() && !(report.any_suffices && report.awaited_count > report.awaited.size());
}

/// Whether this rank is known not to have called the collective yet.
bool is_missing(const SurveyedRank& member, const Awaited& collective) {
  if (member.course == Course::ended) return true;
  if (member.course != Course::waits || !member.report) return false;
  const auto& positions = member.report->positions;
  const auto found = std::find_if(positions.begin(), positions.end(), [&](const Position& each) {
    return each.communicator == collective.communicator;
  });
  if (found == positions.end()) return member.report->has_all_positions;
  // Numbers wrap around.
  return !found->has_more_called && static_cast<std::int32_t>(found->ordinal - collective.ordinal) < 0;
}

/// Whether this rank leaves such a collective only when all have called it. It may leave sooner where members
/// may give nothing, as in MPI_Alltoallv.
bool needs_all(const Awaited& collective, std::uint32_t rank) {
  const std::string_view operation = collective.operation;
  if (operation == "Barrier" || operation == "Allreduce") return true;
  return operation == "Reduce" && collective.root == static_cast<std::int32_t>(rank);
}

bool needs_root(const Awaited& collective, std::uint32_t rank) {
  const bool distributes = collective.operation == "Bcast" || collective.operation == "Scatter";
  return distributes && collective.root >= 0 && collective.root != static_cast<std::int32_t>(rank);
}

/// The members without which this rank gets out of no such collective, and which have not called it. Empty:
/// any member's doing may help.
std::vector<std::uint32_t> needed(const Survey& survey, const Awaited& collective, std::uint32_t rank) {
  std::vector<std::uint32_t> members;
  const bool all = needs_all(collective, rank), root = needs_root(collective, rank);
  for (std::uint32_t other = 0; other < survey.size(); ++other) {
    if (other == rank || !collective.ranks.contains(other)) continue;
    if (!all && !(root && collective.root == static_cast<std::int32_t>(other))) continue;
    if (is_missing(survey[other], collective)) members.push_back(other);
  }
  return members;
}

class Fixpoint {
 public:
  explicit Fixpoint(const Survey& survey) : survey_(survey), may_go_on_(survey.size()) {
    for (std::uint32_t rank = 0; rank < survey.size(); ++rank)
      may_go_on_[rank] = survey[rank].course != Course::ended && !is_blocked(survey[rank]);
  }

  std::vector<bool> find_stuck() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t rank = 0; rank < survey_.size(); ++rank) {
        if (may_go_on_[rank] || survey_[rank].course == Course::ended || !may_end(rank)) continue;
        may_go_on_[rank] = changed = true;
      }
    }
    std::vector<bool> stuck(survey_.size());
    for (std::uint32_t rank = 0; rank < survey_.size(); ++rank)
      stuck[rank] = !may_go_on_[rank] && survey_[rank].course == Course::waits;
    return stuck;
  }

 private:
  bool may_end(std::uint32_t rank) const {
    const Report& report = *survey_[rank].report;
    const auto may_come = [&](const Awaited& awaited) { return this->may_come(awaited, rank); };
    const auto& all = report.awaited;
    return report.any_suffices ? std::any_of(all.begin(), all.end(), may_come)
                               : std::all_of(all.begin(), all.end(), may_come);
  }
  bool may_come(const Awaited& awaited, std::uint32_t rank) const {
    if (awaited.kind == Kind::other) return true;
    if (awaited.kind == Kind::collective) {
      const auto members = needed(survey_, awaited, rank);
      if (!members.empty())
        return std::all_of(members.begin(), members.end(), [&](auto each) { return may(each); });
    } else if (awaited.peer != any_rank) {
      return may(static_cast<std::uint32_t>(awaited.peer));
    }
    for (std::uint32_t other = 0; other < survey_.size(); ++other)
      if (other != rank && may_go_on_[other] && awaited.ranks.contains(other)) return true;
    return false;
  }
  /// Of a rank that the survey does not know nothing is known.
  bool may(std::uint32_t rank) const { return rank >= may_go_on_.size() || may_go_on_[rank]; }

  const Survey& survey_;
  std::vector<bool> may_go_on_;
};

/// Whether the rank waits where it waited, and has done nothing since.
bool has_stood_still(const SurveyedRank& before, const SurveyedRank& now) {
  if (before.course != now.course) return false;
  if (now.course != Course::waits) return true;
  return before.report && now.report && before.report->call_index == now.report->call_index &&
         before.report->activity == now.report->activity &&
         before.report->incarnation == now.report->incarnation;
}

void add_awaited(const Survey& survey, const Awaited& awaited, std::uint32_t rank,
                 std::vector<std::uint32_t>& ranks) {
  if (awaited.kind == Kind::other) return;
  if (awaited.kind == Kind::collective) {
    auto members = needed(survey, awaited, rank);
    for (std::uint32_t other = 0; members.empty() && other < survey.size(); ++other)
      if (other != rank && awaited.ranks.contains(other) && is_missing(survey[other], awaited))
        ranks.push_back(other);
    if (members.empty() && ranks.empty() && awaited.root >= 0 &&
        awaited.root != static_cast<std::int32_t>(rank))
      members.push_back(static_cast<std::uint32_t>(awaited.root));
    ranks.insert(ranks.end(), members.begin(), members.end());
    if (!ranks.empty()) return;
  } else if (awaited.peer != any_rank) {
    ranks.push_back(static_cast<std::uint32_t>(awaited.peer));
    return;
  }
  for (std::uint32_t other = 0; other < survey.size(); ++other)
    if (other != rank && awaited.ranks.contains(other)) ranks.push_back(other);
}

/// The next in a chain: one that can never go on before one that may, where that is known.
std::optional<std::uint32_t> next_of(const Survey& survey, const std::vector<bool>& stuck,
                                     std::uint32_t rank) {
  const auto ranks = awaited_ranks(survey, rank);
  const auto find = [&](auto fits) -> std::optional<std::uint32_t> {
    for (const std::uint32_t each : ranks)
      if (each < survey.size() && fits(each)) return each;
    return std::nullopt;
  };
  if (stuck[rank]) {
    if (auto ended = find([&](auto each) { return survey[each].course == Course::ended; })) return ended;
    return find([&](auto each) { return stuck[each]; });
  }
  // Everybody waits for the one that runs.
  if (auto running = find([&](auto each) { return survey[each].course == Course::runs; })) return running;
  return find([](auto) { return true; });
}

std::vector<std::uint32_t> chain_from(const Survey& survey, const std::vector<bool>& stuck,
                                      std::uint32_t rank) {
  std::vector<std::uint32_t> chain{rank};
  while (survey[chain.back()].course == Course::waits) {
    const auto next = next_of(survey, stuck, chain.back());
    if (!next) break;
    const bool again = std::find(chain.begin(), chain.end(), *next) != chain.end();
    chain.push_back(*next);
    if (again) break;
  }
  return chain;
}

}  // namespace

std::vector<bool> find_stuck(const Survey& survey) { return Fixpoint(survey).find_stuck(); }

std::vector<std::uint32_t> awaited_ranks(const Survey& survey, std::uint32_t rank) {
  std::vector<std::uint32_t> ranks;
  if (survey[rank].course != Course::waits || !survey[rank].report) return ranks;
  for (const Awaited& awaited : survey[rank].report->awaited) {
    std::vector<std::uint32_t> some;
    add_awaited(survey, awaited, rank, some);
    ranks.insert(ranks.end(), some.begin(), some.end());
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::vector<std::uint32_t> chain_from(const Survey& survey, std::uint32_t rank) {
  return chain_from(survey, find_stuck(survey), rank);
}

Verdict judge(const Survey& first, const Survey& second) {
  Survey both = second;
  for (std::size_t rank = 0; rank < both.size(); ++rank)
    if (rank >= first.size() || !has_stood_still(first[rank], both[rank])) both[rank].course = Course::runs;
  const auto stuck = find_stuck(both);
  Verdict verdict;
  for (std::uint32_t rank = 0; rank < both.size(); ++rank)
    if (stuck[rank]) verdict.stuck.push_back(rank);
  if (verdict.stuck.empty()) return verdict;
  verdict.is_whole_job = std::none_of(both.begin(), both.end(),
                                      [](const SurveyedRank& each) { return each.course == Course::runs; });
  auto chain = chain_from(both, stuck, verdict.stuck.front());
  const auto again = std::find(chain.begin(), chain.end() - 1, chain.back());
  verdict.is_cycle = again != chain.end() - 1;
  if (verdict.is_cycle) {
    chain.pop_back();
    chain.erase(chain.begin(), again);
  }
  verdict.chain = std::move(chain);
  return verdict;
}

}  // namespace llamada::waits
