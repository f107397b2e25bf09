#include "kept_history.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace llamada::service {
namespace {

bool is_reached(std::size_t count, std::int32_t max) {
  return max != qos::length_unlimited && count >= static_cast<std::size_t>(max);
}

}  // namespace

void KeptHistory::set_policy(const qos::DurabilityService& policy, std::int64_t now_ns) {
  policy_ = policy;
  for (auto& [key, instance] : instances_) {
    trim(instance);
    plan_cleaning(instance, now_ns);
  }
}

std::string KeptHistory::refusal(std::uint64_t key) const {
  const auto found = instances_.find(key);
  if (found == instances_.end()) {
    if (is_reached(instances_.size(), policy_.max_instances))
      return fmt::format("{} instances are kept: DURABILITY_SERVICE max_instances", instances_.size());
  } else {
    const std::size_t count = found->second.sample_count;
    const bool replaces =
        policy_.history_kind == qos::HistoryKind::keep_last && is_reached(count, policy_.history_depth);
    if (replaces) return {};
    if (is_reached(count, policy_.max_samples_per_instance))
      return fmt::format("{} samples of an instance are kept: DURABILITY_SERVICE max_samples_per_instance",
                         count);
  }
  if (is_reached(sample_count_, policy_.max_samples))
    return fmt::format("{} samples are kept: DURABILITY_SERVICE max_samples", sample_count_);
  return {};
}

/// As readers have it: a disposal is the end of all that is older, and KEEP_LAST keeps the newest by the
/// source.
bool KeptHistory::is_outdated(std::uint64_t key, const Entry& entry) const {
  const auto found = instances_.find(key);
  if (!entry.by_source || found == instances_.end() || found->second.entries.empty()) return false;
  const Instance& instance = found->second;
  if ((entry.disposes || instance.is_disposed) &&
      entry.source_timestamp_ns < instance.entries.back().source_timestamp_ns)
    return true;
  const bool is_full = policy_.history_kind == qos::HistoryKind::keep_last &&
                       is_reached(instance.sample_count, policy_.history_depth);
  if (entry.disposes || !is_full) return false;
  const auto oldest = std::find_if(instance.entries.begin(), instance.entries.end(),
                                   [](const Entry& each) { return !each.disposes; });
  return entry.source_timestamp_ns < oldest->source_timestamp_ns;
}

const KeptHistory::Entry* KeptHistory::newest(std::uint64_t key) const {
  const auto found = instances_.find(key);
  return found == instances_.end() || found->second.entries.empty() ? nullptr : &found->second.entries.back();
}

void KeptHistory::add(std::uint64_t key, const Entry& entry, std::int64_t now_ns) {
  Instance& instance = instances_[key];
  auto place = instance.entries.end();
  while (entry.by_source && place != instance.entries.begin() &&
         std::prev(place)->source_timestamp_ns > entry.source_timestamp_ns)
    --place;
  instance.entries.insert(place, entry);
  instance.is_disposed = instance.entries.back().disposes;
  if (!entry.disposes) {
    ++instance.sample_count;
    ++sample_count_;
  }
  trim(instance);
  plan_cleaning(instance, now_ns);
}

/// HISTORY counts samples with data. Of a disposal that nothing precedes, or that another follows at once,
/// nobody learns anything.
void KeptHistory::trim(Instance& instance) {
  auto& entries = instance.entries;
  const bool keeps_last = policy_.history_kind == qos::HistoryKind::keep_last;
  while (keeps_last && instance.sample_count > static_cast<std::size_t>(policy_.history_depth)) {
    const auto oldest =
        std::find_if(entries.begin(), entries.end(), [](const Entry& each) { return !each.disposes; });
    drop_at(instance, static_cast<std::size_t>(oldest - entries.begin()));
  }
  while (entries.size() > 1 && entries.front().disposes) drop_at(instance, 0);
  if (const std::size_t count = entries.size();
      count > 1 && entries[count - 1].disposes && entries[count - 2].disposes)
    drop_at(instance, count - 2);
}

void KeptHistory::drop_at(Instance& instance, std::size_t index) {
  const Entry entry = instance.entries[index];
  instance.entries.erase(instance.entries.begin() + static_cast<std::ptrdiff_t>(index));
  if (!entry.disposes) {
    --instance.sample_count;
    --sample_count_;
  }
  on_dropped_(entry);
}

void KeptHistory::writes(std::uint64_t key, std::uint32_t writer) {
  const auto found = instances_.find(key);
  if (found == instances_.end() || is_written_by(key, writer)) return;
  found->second.writers.push_back(writer);
  found->second.clean_ns = never_ns;
}

bool KeptHistory::is_written_by(std::uint64_t key, std::uint32_t writer) const {
  const auto* writers = writers_of(key);
  return writers != nullptr && std::find(writers->begin(), writers->end(), writer) != writers->end();
}

const std::vector<std::uint32_t>* KeptHistory::writers_of(std::uint64_t key) const {
  const auto found = instances_.find(key);
  return found == instances_.end() ? nullptr : &found->second.writers;
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> KeptHistory::written() const {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> written;
  for (const auto& [key, instance] : instances_)
    for (const std::uint32_t writer : instance.writers) written.emplace_back(key, writer);
  return written;
}

void KeptHistory::unregistered(std::uint64_t key, std::uint32_t writer, std::int64_t now_ns) {
  const auto found = instances_.find(key);
  if (found == instances_.end()) return;
  std::erase(found->second.writers, writer);
  plan_cleaning(found->second, now_ns);
}

void KeptHistory::writer_gone(std::uint32_t writer, std::int64_t now_ns) {
  for (auto& [key, instance] : instances_)
    if (std::erase(instance.writers, writer) > 0) plan_cleaning(instance, now_ns);
}

void KeptHistory::plan_cleaning(Instance& instance, std::int64_t now_ns) {
  const std::int64_t delay_ns = policy_.service_cleanup_delay.count();
  const bool is_over = instance.is_disposed && instance.writers.empty();
  const bool is_finite = policy_.service_cleanup_delay != qos::duration_infinite;
  instance.clean_ns = is_over && is_finite && now_ns <= never_ns - delay_ns ? now_ns + delay_ns : never_ns;
  next_cleaning_ns_ = std::min(next_cleaning_ns_, instance.clean_ns);
}

std::int64_t KeptHistory::clean(std::int64_t now_ns) {
  if (now_ns < next_cleaning_ns_) return next_cleaning_ns_;
  next_cleaning_ns_ = never_ns;
  for (auto place = instances_.begin(); place != instances_.end();) {
    Instance& instance = place->second;
    if (instance.clean_ns > now_ns) {
      next_cleaning_ns_ = std::min(next_cleaning_ns_, instance.clean_ns);
      ++place;
      continue;
    }
    while (!instance.entries.empty()) drop_at(instance, instance.entries.size() - 1);
    place = forget_if_empty(place);
  }
  return next_cleaning_ns_;
}

void KeptHistory::expire(const std::function<bool(const Entry&)>& is_over) {
  for (auto place = instances_.begin(); place != instances_.end();) {
    Instance& instance = place->second;
    for (std::size_t index = instance.entries.size(); index-- > 0;)
      if (!instance.entries[index].disposes && is_over(instance.entries[index])) drop_at(instance, index);
    trim(instance);
    place = forget_if_empty(place);
  }
}

KeptHistory::Instances::iterator KeptHistory::forget_if_empty(Instances::iterator place) {
  if (!place->second.entries.empty() || !place->second.writers.empty()) return std::next(place);
  return instances_.erase(place);
}

}  // namespace llamada::service
