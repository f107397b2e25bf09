#include "coherent_sets.hpp"

#include <algorithm>

namespace llamada::dcps {

std::vector<std::byte> coherent_end_payload(std::uint32_t sample_count) {
  std::vector<std::byte> payload(4);
  for (std::size_t k = 0; k < payload.size(); ++k) payload[k] = std::byte(sample_count >> (8 * k));
  return payload;
}

std::optional<std::uint32_t> coherent_end_sample_count(std::span<const std::byte> payload) {
  if (payload.size() != 4) return std::nullopt;
  std::uint32_t count = 0;
  for (std::size_t k = 0; k < payload.size(); ++k)
    count |= std::to_integer<std::uint32_t>(payload[k]) << (8 * k);
  return count;
}

bool CoherentSets::hold(topics::Sample&& sample, Timestamp reception_timestamp) {
  const std::uint32_t number = sample.header().coherent_set;
  if (number == 0 && sets_.empty()) return false;
  Set& set = open(number);
  sample.let_evacuate(true);
  set.samples.push_back({std::move(sample), reception_timestamp});
  return true;
}

// The open set of that number. One with another number, whose end has not come, never will be whole.
CoherentSets::Set& CoherentSets::open(std::uint32_t number) {
  if (!sets_.empty() && sets_.back().number != number) end_open_set(false);
  if (sets_.empty() || sets_.back().number != number) {
    sets_.push_back({.number = number, .ended = number == 0});
  }
  return sets_.back();
}

void CoherentSets::end_open_set(bool whole) {
  if (sets_.empty() || sets_.back().ended) return;
  Set& set = sets_.back();
  set.ended = true;
  set.whole = set.whole && whole;
  ended_through_ = std::max(ended_through_, set.number);
}

void CoherentSets::end(std::uint32_t number, std::uint32_t sample_count) {
  Set& set = open(number);
  end_open_set(set.samples.size() == sample_count);
}

void CoherentSets::lost() {
  if (!sets_.empty() && !sets_.back().ended) sets_.back().whole = false;
}

std::size_t CoherentSets::abandon() {
  if (sets_.empty() || sets_.back().ended) return 0;
  const std::size_t count = sets_.back().samples.size();
  sets_.back().samples.clear();
  sets_.back().whole = false;
  return count;
}

void CoherentSets::close() { end_open_set(false); }

CoherentSets::Set CoherentSets::take_first() {
  Set set = std::move(sets_.front());
  sets_.pop_front();
  return set;
}

std::size_t CoherentSets::held_count() const {
  std::size_t count = 0;
  for (const Set& set : sets_) count += set.samples.size();
  return count;
}

}  // namespace llamada::dcps
