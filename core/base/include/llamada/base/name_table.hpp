#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "llamada/base/result.hpp"

namespace llamada {

/// Values that owners publish under names, until they withdraw them. Names lie in spaces: each space has its
/// own. Threads: one.
class NameTable {
 public:
  /// Names in all spaces together.
  static constexpr std::size_t count_max = 4096;

  /// Errors: already_exists, out_of_resources.
  Status publish(std::uint32_t space, const std::string& name, std::string value, std::uint32_t owner) {
    if (entries_.size() >= count_max)
      return failure(Errc::out_of_resources, "there are {} names, and no more may be", count_max);
    if (entries_.try_emplace({space, name}, Entry{owner, std::move(value)}).second) return {};
    return failure(Errc::already_exists, "the name '{}' is taken", name);
  }
  /// Errors: not_found.
  Result<std::string> look_up(std::uint32_t space, const std::string& name) const {
    const auto found = entries_.find({space, name});
    if (found != entries_.end()) return found->second.value;
    return failure(Errc::not_found, "nobody has published the name '{}'", name);
  }
  /// Anybody may. Errors: not_found.
  Status withdraw(std::uint32_t space, const std::string& name) {
    if (entries_.erase({space, name}) > 0) return {};
    return failure(Errc::not_found, "nobody has published the name '{}'", name);
  }
  /// Withdraws all that this owner has published in the space.
  void drop(std::uint32_t space, std::uint32_t owner) {
    std::erase_if(entries_, [&](const auto& entry) {
      return entry.first.first == space && entry.second.owner == owner;
    });
  }

 private:
  struct Entry {
    std::uint32_t owner = 0;
    std::string value;
  };
  std::map<std::pair<std::uint32_t, std::string>, Entry> entries_;
};

}  // namespace llamada
