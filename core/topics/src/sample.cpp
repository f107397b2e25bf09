#include "llamada/topics/sample.hpp"

#include <algorithm>
#include <utility>

#include "llamada/base/check.hpp"

namespace llamada::topics {

void Sample::clear() {
  leave();
  header_ = {};
  small_size_ = 0;
  may_evacuate_ = false;
  copy_ = {};
}

Sample Sample::owning(const SampleHeader& header, std::vector<std::byte> data) {
  Sample sample;
  sample.header_ = header;
  sample.copy_ = std::move(data);
  return sample;
}

Sample& Sample::operator=(Sample&& other) noexcept {
  if (this == &other) return *this;
  leave();
  take(other);
  return *this;
}

std::span<const std::byte> Sample::data() const {
  if (source_ != nullptr) return place_;
  if (small_size_ > 0) return {small_.data(), small_size_};
  return copy_;
}

void Sample::evacuate() {
  if (source_ == nullptr) return;
  source_->count_copied(place_.size());
  copy_.assign(place_.begin(), place_.end());
  leave();
}

/// Takes the other's content and its place in the list; this one has none.
void Sample::take(Sample& other) {
  header_ = other.header_;
  other.header_ = {};
  may_evacuate_ = std::exchange(other.may_evacuate_, false);
  small_size_ = std::exchange(other.small_size_, 0);
  if (small_size_ > 0) {
    small_ = other.small_;
    copy_.clear();
    return;
  }
  copy_ = std::move(other.copy_);
  source_ = std::exchange(other.source_, nullptr);
  if (source_ == nullptr) return;
  place_ = std::exchange(other.place_, {});
  hold_ = other.hold_;
  previous_ = std::exchange(other.previous_, nullptr);
  next_ = std::exchange(other.next_, nullptr);
  (previous_ != nullptr ? previous_->next_ : source_->first_) = this;
  (next_ != nullptr ? next_->previous_ : source_->last_) = this;
}

void Sample::leave() {
  detail::SampleSource* source = std::exchange(source_, nullptr);
  if (source == nullptr) return;
  (previous_ != nullptr ? previous_->next_ : source->first_) = next_;
  (next_ != nullptr ? next_->previous_ : source->last_) = previous_;
  previous_ = nullptr;
  next_ = nullptr;
  place_ = {};
  source->let_go(hold_);
}

}  // namespace llamada::topics
