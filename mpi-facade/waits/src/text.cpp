#include "llamada/waits/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "llamada/mpi/calls.hpp"

namespace llamada::waits {
namespace {

using Course = SurveyedRank::Course;

constexpr std::size_t listed_max = 8;

std::string name_of(const Survey& survey, std::int32_t rank) {
  const auto index = static_cast<std::size_t>(rank);
  return rank >= 0 && index < survey.size() ? survey[index].name : fmt::format("rank {}", rank);
}

std::string call_of(const SurveyedRank& rank) {
  return std::string(mpi::call_name(static_cast<mpi::CallId>(rank.report->call)));
}

/// "a, b and c".
std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string list_ranks(const Survey& survey, const std::vector<std::uint32_t>& ranks) {
  std::vector<std::string> words;
  for (const std::uint32_t rank : ranks) {
    if (words.size() == listed_max) {
      words.push_back(fmt::format("{} more", ranks.size() - listed_max));
      break;
    }
    words.push_back(name_of(survey, static_cast<std::int32_t>(rank)));
  }
  return list_of(words);
}

std::string tag_text(std::int32_t tag) {
  return tag == any_tag ? std::string("any tag") : fmt::format("tag {}", tag);
}

std::string source_text(const Survey& survey, const Awaited& awaited) {
  return awaited.peer == any_rank ? std::string("any rank") : name_of(survey, awaited.peer);
}

std::string collective_text(const Survey& survey, const Awaited& awaited, std::uint32_t rank) {
  const SurveyedRank& who = survey[rank];
  Survey alone = survey;
  alone[rank].report->awaited = {awaited};
  const auto others = awaited_ranks(alone, rank);
  const std::string root =
      awaited.root >= 0 ? fmt::format(", root {}", name_of(survey, awaited.root)) : std::string();
  const std::string for_whom = others.empty() ? std::string("the other members") : list_ranks(survey, others);
  // A nonblocking one, or one that another call needs, is not named by the call.
  const bool is_call = call_of(who) == "MPI_" + awaited.operation;
  return fmt::format("for {} ({}collective {} of communicator {}{})", for_whom,
                     is_call || awaited.operation.empty() ? "" : "MPI_" + awaited.operation + ", ",
                     awaited.ordinal, awaited.name, root);
}

std::string awaited_text(const Survey& survey, const Awaited& awaited, std::uint32_t rank) {
  switch (awaited.kind) {
    case Kind::receive:
    case Kind::probe:
      return fmt::format("for {}, {}, communicator {}", source_text(survey, awaited), tag_text(awaited.tag),
                         awaited.name);
    case Kind::send:
      return fmt::format("for {} to receive {} bytes, {}, communicator {}", source_text(survey, awaited),
                         awaited.bytes, tag_text(awaited.tag), awaited.name);
    case Kind::collective:
      return collective_text(survey, awaited, rank);
    case Kind::fence:
      return fmt::format("for all members of {}", awaited.name);
    case Kind::lock:
      return fmt::format("for a lock of {}, which another member holds", awaited.name);
    case Kind::post:
      return fmt::format("for {} to call MPI_Win_post on {}", source_text(survey, awaited), awaited.name);
    case Kind::complete:
      return fmt::format("for {} to call MPI_Win_complete on {}", source_text(survey, awaited), awaited.name);
    case Kind::other:
      break;
  }
  return "for something that is no message of a rank";
}

std::string unmatched_text(const Survey& survey, const Unmatched& unmatched, bool with_name) {
  return fmt::format("{} message{} from {}, {}{}", unmatched.count, unmatched.count == 1 ? "" : "s",
                     name_of(survey, unmatched.peer), tag_text(unmatched.tag),
                     with_name ? ", communicator " + unmatched.name : std::string());
}

/// Ranks that are in the same collective of a communicator with different calls or roots.
std::string describe_misfit(const Survey& survey, const std::vector<std::uint32_t>& ranks) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::map<std::string, std::vector<std::uint32_t>>> calls;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> names;
  for (const std::uint32_t rank : ranks) {
    for (const Awaited& awaited : survey[rank].report->awaited) {
      if (awaited.kind != Kind::collective || awaited.operation.empty()) continue;
      const std::pair key(awaited.communicator, awaited.ordinal);
      const std::string how =
          "MPI_" + awaited.operation +
          (awaited.root >= 0 ? fmt::format(" with root {}", name_of(survey, awaited.root)) : std::string());
      calls[key][how].push_back(rank);
      names[key] = awaited.name;
    }
  }
  for (const auto& [key, ways] : calls) {
    if (ways.size() < 2) continue;
    std::vector<std::string> words;
    for (const auto& [how, callers] : ways)
      words.push_back(
          fmt::format("{} call{} {}", list_ranks(survey, callers), callers.size() == 1 ? "s" : "", how));
    return fmt::format(" The members call collective {} of communicator {} differently: {}.", key.second,
                       names[key], list_of(words));
  }
  return {};
}

/// The communicators in whose collectives these ranks wait, if there are several.
std::string describe_order(const Survey& survey, const std::vector<std::uint32_t>& ranks) {
  std::set<std::uint64_t> communicators;
  for (const std::uint32_t rank : ranks)
    for (const Awaited& awaited : survey[rank].report->awaited)
      if (awaited.kind == Kind::collective) communicators.insert(awaited.communicator);
  if (communicators.size() < 2) return {};
  return " The ranks are in collectives of different communicators: all members must call them in the same "
         "order.";
}

}  // namespace

std::string describe_wait(const Survey& survey, std::uint32_t rank) {
  const SurveyedRank& who = survey[rank];
  if (who.course == Course::ended) return who.name + " has ended";
  if (who.node)
    return fmt::format("{} is on node {}; run `llamada why` there to see what it waits for", who.name,
                       *who.node);
  if (who.course == Course::runs || !who.report) return who.name + " does not wait in MPI";
  const Report& report = *who.report;
  std::string text = fmt::format("{} waits in {} ", who.name, call_of(who));
  const std::size_t shown = std::min<std::size_t>(report.awaited.size(), 3);
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0                ? ""
             : report.any_suffices ? ", or "
                                   : ", and ") +
            awaited_text(survey, report.awaited[i], rank);
  if (report.awaited_count > shown)
    text += fmt::format(", {} {} more", report.any_suffices ? "or" : "and", report.awaited_count - shown);
  return text;
}

std::string describe_unmatched(const Survey& survey, std::uint32_t rank) {
  const SurveyedRank& who = survey[rank];
  if (!who.report || who.report->messages.empty()) return {};
  std::set<std::string> names;
  for (const Unmatched& each : who.report->messages) names.insert(each.name);
  std::string text = fmt::format("Unmatched at {}: ", who.name);
  std::uint32_t shown = 0;
  for (std::size_t i = 0; i < who.report->messages.size() && i < listed_max; ++i) {
    text += (i == 0 ? "" : "; ") + unmatched_text(survey, who.report->messages[i], names.size() > 1);
    shown += who.report->messages[i].count;
  }
  if (who.report->messages_count > shown)
    text += fmt::format("; {} more", who.report->messages_count - shown);
  return text + ".";
}

std::string describe_deadlock(const Survey& survey, const Verdict& verdict) {
  std::string text = verdict.is_whole_job
                         ? std::string("deadlock: ")
                         : fmt::format("deadlock of {} ranks, while others run: ", verdict.stuck.size());
  for (std::size_t i = 0; i < verdict.chain.size() && i < 2 * listed_max; ++i)
    text += (i == 0 ? "" : "; ") + describe_wait(survey, verdict.chain[i]);
  if (verdict.chain.size() > 2 * listed_max)
    text += fmt::format("; and so on over {} ranks", verdict.chain.size() - 2 * listed_max);
  text += verdict.is_whole_job ? ": nobody can go on." : ": none of them can go on.";
  std::string misfit = describe_misfit(survey, verdict.stuck);
  text += misfit.empty() ? describe_order(survey, verdict.chain) : misfit;
  std::size_t told = 0;
  for (const std::uint32_t rank : verdict.chain) {
    const std::string unmatched = describe_unmatched(survey, rank);
    if (unmatched.empty() || ++told > listed_max) continue;
    text += " " + unmatched;
  }
  if (verdict.stuck.size() > verdict.chain.size())
    text += fmt::format(" {} more rank{} wait{} for these.", verdict.stuck.size() - verdict.chain.size(),
                        verdict.stuck.size() - verdict.chain.size() == 1 ? "" : "s",
                        verdict.stuck.size() - verdict.chain.size() == 1 ? "s" : "");
  return text;
}

std::string describe_chain(const Survey& survey, std::uint32_t rank) {
  const auto chain = chain_from(survey, rank);
  if (chain.size() < 2) return {};
  std::vector<std::string> names;
  for (const std::uint32_t each : chain) names.push_back(survey[each].name);
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += fmt::format("{} {}", i == 1 ? " waits for" : ", which waits for", names[i]);
  return text;
}

std::optional<std::uint32_t> find_last(const Survey& survey) {
  std::map<std::uint32_t, std::size_t> waiting_for;
  for (std::uint32_t rank = 0; rank < survey.size(); ++rank) {
    const auto chain = chain_from(survey, rank);
    if (chain.size() > 1 && survey[chain.back()].course == Course::runs) ++waiting_for[chain.back()];
  }
  const auto most = std::max_element(waiting_for.begin(), waiting_for.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == waiting_for.end()) return std::nullopt;
  return most->first;
}

std::string describe_job(const Survey& survey) {
  std::string text;
  for (std::uint32_t rank = 0; rank < survey.size(); ++rank) {
    text += "  " + describe_wait(survey, rank) + ".";
    const std::string unmatched = describe_unmatched(survey, rank);
    text += unmatched.empty() ? "\n" : " " + unmatched + "\n";
  }
  if (const auto last = find_last(survey))
    text += fmt::format("  The others wait for {}.\n", survey[*last].name);
  return text;
}

}  // namespace llamada::waits
