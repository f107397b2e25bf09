#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace llamada::dcps {

struct CachedSample;

/// The samples of an instance, in the order in which they are presented: a vector whose first ones can go
/// without moving the others. There may be many instances: one that never had a sample takes no memory here.
class SampleList {
 public:
  using Iterator = CachedSample* const*;

  bool empty() const { return first_ == items_.size(); }
  std::size_t size() const { return items_.size() - first_; }
  CachedSample* operator[](std::size_t index) const { return items_[first_ + index]; }
  CachedSample* front() const { return items_[first_]; }
  Iterator begin() const { return items_.data() + first_; }
  Iterator end() const { return items_.data() + items_.size(); }

  void push_back(CachedSample* sample) {
    make_room();
    items_.push_back(sample);
  }
  void insert(Iterator before, CachedSample* sample) {
    const auto index = before - begin();
    make_room();
    items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(first_) + index, sample);
  }
  void pop_front() {
    ++first_;
    if (empty()) clear();
  }
  /// Moves those that are fewer, the ones before or the ones behind.
  void erase(Iterator at) {
    const auto place = items_.begin() + (at - items_.data());
    if (at - begin() < end() - at) {
      std::move_backward(items_.begin() + static_cast<std::ptrdiff_t>(first_), place, place + 1);
      return pop_front();
    }
    items_.erase(place);
  }
  void clear() {
    items_.clear();
    first_ = 0;
  }

 private:
  /// Rather of what has gone from the front than more, if that is half of it.
  void make_room() {
    if (items_.size() < items_.capacity() || first_ < size() || first_ == 0) return;
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  std::vector<CachedSample*> items_;
  std::size_t first_ = 0;
};

}  // namespace llamada::dcps
