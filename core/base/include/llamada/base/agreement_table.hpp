#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace llamada {

/// The vote of one member of a group in an agreement. Members call agreements of one group in the same order.
struct AgreementVote {
  std::uint32_t group = 0;     ///< names the group, among groups that have members in common
  std::uint32_t sequence = 0;  ///< numbers the group's agreements
  std::uint32_t flags = 0;
  std::uint32_t common = 0;               ///< 0: this member has none
  std::uint32_t own = 0;                  ///< a number that no other member names
  std::uint32_t count = 0;                ///< of something that all members count
  std::vector<std::uint32_t> members;     ///< of the group, in one order; the voter is one of them
  std::vector<std::uint32_t> known_lost;  ///< members that the voter has been told are lost
  bool operator==(const AgreementVote&) const = default;
};

/// The result, which all members get.
struct AgreementDecision {
  std::uint32_t flags = 0;          ///< the bits that all who voted have
  std::uint32_t common = 0;         ///< the highest; 0 if a member has none
  std::uint32_t own = 0;            ///< the highest
  std::uint32_t count = 0;          ///< the highest
  std::vector<std::uint32_t> lost;  ///< the members that are gone, in the order of the group
  bool all_knew = false;            ///< each who voted knew all of these
  bool operator==(const AgreementDecision&) const = default;
};

/// Decides agreements of processes of which any may end at any time: a decision is made once all members that
/// live have voted, and is the same for all, whoever ends afterwards.
///
/// Pure. Threads: one.
class AgreementTable {
 public:
  /// A member votes, or asks again with the same vote. The decision; none: it is to ask again when
  /// end_member() or another vote has decided something.
  std::optional<AgreementDecision> vote(std::uint32_t member, const AgreementVote& vote) {
    const Name name{vote.group, first_of(vote), vote.sequence};
    Agreement& agreement = agreements_[name];
    if (agreement.members.empty()) agreement.members = vote.members;
    if (!agreement.decision && agreement.voters.insert(member).second) add(agreement, vote);
    look_at(agreement);
    if (!agreement.decision) return std::nullopt;
    AgreementDecision decision = *agreement.decision;
    agreement.told.insert(member);
    if (is_told_to_all(agreement)) agreements_.erase(name);
    return decision;
  }
  /// The process of this member has ended.
  void end_member(std::uint32_t member) { end_members({member}); }
  /// The processes of these members have ended together: no decision counts any of them as living.
  void end_members(const std::vector<std::uint32_t>& members) {
    gone_.insert(members.begin(), members.end());
    for (auto& [name, agreement] : agreements_) look_at(agreement);
    std::erase_if(agreements_, [this](const auto& entry) { return is_told_to_all(entry.second); });
  }
  /// Another process has this number from now on.
  void begin_member(std::uint32_t member) { gone_.erase(member); }
  /// How many decisions have been made.
  std::uint64_t decision_count() const { return decision_count_; }
  /// Agreements that are not decided, or not told to all.
  std::size_t open_count() const { return agreements_.size(); }

 private:
  using Name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Agreement {
    std::vector<std::uint32_t> members;
    std::set<std::uint32_t> voters;
    std::set<std::uint32_t> told;
    AgreementDecision sum{~std::uint32_t{0}, ~std::uint32_t{0}, 0, 0, {}, true};
    std::vector<std::uint32_t> known_by_all;
    std::optional<AgreementDecision> decision;
  };

  /// Groups that have one name have no members in common, so this tells them apart.
  static std::uint32_t first_of(const AgreementVote& vote) {
    return vote.members.empty() ? 0 : *std::min_element(vote.members.begin(), vote.members.end());
  }
  static bool contains(const std::vector<std::uint32_t>& list, std::uint32_t member) {
    return std::find(list.begin(), list.end(), member) != list.end();
  }
  static void add(Agreement& agreement, const AgreementVote& vote) {
    AgreementDecision& sum = agreement.sum;
    sum.flags &= vote.flags;
    const bool is_first = agreement.voters.size() == 1;
    const bool have_common = vote.common != 0 && sum.common != 0;
    sum.common = is_first ? vote.common : have_common ? std::max(sum.common, vote.common) : 0;
    sum.own = std::max(sum.own, vote.own);
    sum.count = std::max(sum.count, vote.count);
    if (is_first)
      agreement.known_by_all = vote.known_lost;
    else
      std::erase_if(agreement.known_by_all,
                    [&](std::uint32_t member) { return !contains(vote.known_lost, member); });
  }
  void look_at(Agreement& agreement) {
    if (agreement.decision) return;
    const bool all = std::all_of(
        agreement.members.begin(), agreement.members.end(),
        [&](std::uint32_t member) { return gone_.contains(member) || agreement.voters.contains(member); });
    if (!all) return;
    agreement.decision = agreement.sum;
    for (const std::uint32_t member : agreement.members) {
      if (!gone_.contains(member)) continue;
      agreement.decision->lost.push_back(member);
      agreement.decision->all_knew &= contains(agreement.known_by_all, member);
    }
    ++decision_count_;
  }
  bool is_told_to_all(const Agreement& agreement) const {
    return agreement.decision &&
           std::all_of(agreement.members.begin(), agreement.members.end(), [&](std::uint32_t member) {
             return gone_.contains(member) || agreement.told.contains(member);
           });
  }

  std::map<Name, Agreement> agreements_;
  std::set<std::uint32_t> gone_;
  std::uint64_t decision_count_ = 0;
};

}  // namespace llamada
