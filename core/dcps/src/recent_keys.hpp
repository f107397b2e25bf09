#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace llamada::dcps {

/// The keys of instances that a reader's cache has forgotten lately, so that a program that has taken the
/// last sample of an instance can still ask which instance that was. Bounded: the oldest go first.
///
/// Pure: no clock, no thread.
class RecentKeys {
 public:
  using Key = std::vector<std::byte>;
  static constexpr std::size_t count_max = 1024;
  static constexpr std::size_t bytes_max = 256 << 10;  // the newest is kept, however long it is

  void remember(std::uint64_t key_hash, Key key) {
    const auto [place, is_new] = keys_.try_emplace(key_hash);
    bytes_ += key.size();
    bytes_ -= place->second.size();
    place->second = std::move(key);
    if (is_new) order_.push_back(key_hash);
    while (order_.size() > 1 && (order_.size() > count_max || bytes_ > bytes_max)) drop_oldest();
  }

  /// nullptr: not known, or known no longer.
  const Key* find(std::uint64_t key_hash) const {
    const auto found = keys_.find(key_hash);
    return found == keys_.end() ? nullptr : &found->second;
  }

 private:
  void drop_oldest() {
    const auto found = keys_.find(order_.front());
    order_.pop_front();
    bytes_ -= found->second.size();
    keys_.erase(found);
  }

  std::unordered_map<std::uint64_t, Key> keys_;
  std::deque<std::uint64_t> order_;
  std::size_t bytes_ = 0;
};

}  // namespace llamada::dcps
