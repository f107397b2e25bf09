#include "differences.hpp"

#include <algorithm>
#include <iterator>

namespace llamada::interop {
namespace {

/// Without the samples that have no data, and as if they had not been counted. All are of one instance.
std::vector<Seen> with_data(const std::vector<Seen>& seen) {
  std::vector<Seen> kept;
  std::copy_if(seen.begin(), seen.end(), std::back_inserter(kept),
               [](const Seen& each) { return each.valid; });
  for (std::size_t i = 0; i < kept.size(); i++)
    kept[i].sample_rank = static_cast<std::int32_t>(kept.size() - i - 1);
  return kept;
}

std::vector<Seen> without_generations(std::vector<Seen> seen) {
  for (Seen& each : seen)
    each.no_writers_generation = each.generation_rank = each.absolute_generation_rank = 0;
  return seen;
}

std::vector<Seen> without_view(std::vector<Seen> seen) {
  for (Seen& each : seen) each.view_state = 0;
  return seen;
}

bool counts_more(const Seen& ours, const Seen& theirs) {
  return theirs.no_writers_generation >= ours.no_writers_generation &&
         theirs.generation_rank >= ours.generation_rank;
}

/// Whether the instance had come back, and only ours shows it as NEW for that.
bool is_only_ours_new(const Seen& ours, const Seen& theirs) {
  const std::int32_t generations = theirs.disposed_generation + theirs.no_writers_generation;
  return ours.view_state == theirs.view_state ||
         (ours.view_state == 1 && generations + theirs.absolute_generation_rank > 0);
}

bool is_same_sample(const Seen& a, const Seen& b) {
  return a.cell.value == b.cell.value && a.sample_state == b.sample_state &&
         a.instance_state == b.instance_state;
}

/// Whether ours ends earlier, since a sample without data took the place of another.
bool is_cut(const std::vector<Seen>& ours, const std::vector<Seen>& theirs) {
  return ours.size() < theirs.size() && std::equal(ours.begin(), ours.end(), theirs.begin(), is_same_sample);
}

/// Whether the instance had ended and come back.
bool has_come_back(const std::vector<Seen>& seen) {
  return std::any_of(seen.begin(), seen.end(), [](const Seen& each) {
    return each.disposed_generation + each.no_writers_generation + each.absolute_generation_rank > 0;
  });
}

/// Whether the instance has ended, or had.
bool has_ended(const std::vector<Seen>& seen) {
  const auto is_dead = [](const Seen& each) { return each.instance_state != 1; };
  return has_come_back(seen) || std::any_of(seen.begin(), seen.end(), is_dead);
}

}  // namespace

std::string_view to_string(Difference difference) {
  constexpr std::array<std::string_view, difference_kinds> names{"equal",
                                                                 "sample without data",
                                                                 "cut by a sample without data",
                                                                 "generation counts",
                                                                 "view of a reborn instance",
                                                                 "late by source",
                                                                 "purge",
                                                                 "follows",
                                                                 "not compared",
                                                                 "unlisted"};
  return names[static_cast<std::size_t>(difference)];
}

void Judge::note(const Step& step) {
  History& history = histories_[step.cell.key];
  if (configuration_.by_source && step.timestamp_ns < history.latest_ns) history.has_late = true;
  history.latest_ns = std::max(history.latest_ns, step.timestamp_ns);
}

Difference Judge::judge(const Step& step, std::int32_t key, const std::vector<Seen>& ours,
                        const std::vector<Seen>& theirs) {
  History& history = histories_[key];
  if (history.is_over) return Difference::not_compared;
  Difference difference = difference_of(step, ours, theirs);
  if (difference == Difference::unlisted && history.has_late) difference = Difference::late;
  if (difference == Difference::unlisted && history.may_hold_others) difference = Difference::follows;
  const bool differs_without_data =
      ours.size() - with_data(ours).size() != theirs.size() - with_data(theirs).size();
  if (differs_without_data || difference == Difference::reborn_view) history.may_hold_others = true;
  history.is_over = difference == Difference::follows || difference == Difference::cut ||
                    difference == Difference::late || difference == Difference::purge;
  return difference;
}

Difference Judge::difference_of(const Step& step, const std::vector<Seen>& ours,
                                const std::vector<Seen>& theirs) const {
  if (ours == theirs) return Difference::none;
  const std::vector<Seen> a = with_data(ours), b = with_data(theirs);
  if (a == b) return Difference::without_data;
  const std::vector<Seen> plain_a = without_generations(a), plain_b = without_generations(b);
  if (plain_a == plain_b && std::equal(a.begin(), a.end(), b.begin(), counts_more))
    return Difference::generations;
  const bool is_view_alike = without_view(plain_a) == without_view(plain_b) &&
                             std::equal(a.begin(), a.end(), b.begin(), is_only_ours_new);
  const bool is_view_chosen = step.view_states != 3 && (a.empty() || b.empty());
  if (is_view_alike || (is_view_chosen && has_come_back(a.empty() ? b : a))) return Difference::reborn_view;
  if (a.size() < ours.size() && is_cut(a, b)) return Difference::cut;
  const bool purges = configuration_.purge_disposed || configuration_.purge_nowriter;
  return purges && has_ended(b) ? Difference::purge : Difference::unlisted;
}

}  // namespace llamada::interop
