#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llamada::service {

/// Which writers claim which instances of a topic. With OWNERSHIP EXCLUSIVE (DDS 1.4, 2.2.3.9) the strongest
/// of them is heard. With SHARED a service knows by its claims which instances a writer writes whose first
/// samples have left the writer's memory. A writer claims an instance from its first sample on, until it
/// unregisters the instance or has gone.
///
/// Each claim is an item of the topic's stream. Writers are indices that the user gives. Pure.
class Claims {
 public:
  struct Claim {
    std::uint32_t writer = 0;
    std::uint64_t item = 0;
  };
  using Items = std::vector<std::uint64_t>;

  bool has(std::uint64_t instance, std::uint32_t writer) const {
    const auto& claims = of(instance);
    return std::any_of(claims.begin(), claims.end(),
                       [&](const Claim& claim) { return claim.writer == writer; });
  }
  std::size_t count(std::uint32_t writer) const {
    const auto found = counts_.find(writer);
    return found == counts_.end() ? 0 : found->second;
  }
  /// The item that said so before, which is no longer needed; 0: there was none.
  std::uint64_t add(std::uint64_t instance, const Claim& claim) {
    const std::uint64_t before = remove(instance, claim.writer);
    by_instance_[instance].push_back(claim);
    ++counts_[claim.writer];
    return before;
  }
  /// The item of the claim; 0: there was none.
  std::uint64_t remove(std::uint64_t instance, std::uint32_t writer) {
    const auto found = by_instance_.find(instance);
    if (found == by_instance_.end()) return 0;
    auto& claims = found->second;
    const auto claim =
        std::find_if(claims.begin(), claims.end(), [&](const Claim& each) { return each.writer == writer; });
    if (claim == claims.end()) return 0;
    const std::uint64_t item = claim->item;
    claims.erase(claim);
    if (claims.empty()) by_instance_.erase(found);
    if (--counts_[writer] == 0) counts_.erase(writer);
    return item;
  }
  /// The items of all claims of the writer.
  Items remove_all(std::uint32_t writer) {
    Items items;
    if (counts_.erase(writer) == 0) return items;
    for (auto place = by_instance_.begin(); place != by_instance_.end();) {
      std::erase_if(place->second, [&](const Claim& claim) {
        if (claim.writer != writer) return false;
        items.push_back(claim.item);
        return true;
      });
      place = place->second.empty() ? by_instance_.erase(place) : std::next(place);
    }
    return items;
  }
  const std::vector<Claim>& of(std::uint64_t instance) const {
    static const std::vector<Claim> none;
    const auto found = by_instance_.find(instance);
    return found == by_instance_.end() ? none : found->second;
  }
  /// Calls it with each instance and claim.
  template <typename OnClaim>
  void for_each(const OnClaim& on_claim) const {
    for (const auto& [instance, claims] : by_instance_)
      for (const Claim& claim : claims) on_claim(instance, claim);
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<Claim>> by_instance_;
  std::unordered_map<std::uint32_t, std::size_t> counts_;  // of each writer
};

}  // namespace llamada::service
