// What happens in a reader's cache because time passes. Each instance that waits for a moment has a wake-up.
#include <algorithm>
#include <utility>

#include "reader_cache.hpp"

namespace llamada::dcps {

void ReaderCache::advance(Now now) {
  now_ = now;
  std::uint64_t key_hash = 0;
  while (wakeups_.pop_due(now.monotonic, key_hash)) {
    auto found = instances_.find(key_hash);
    if (found == instances_.end()) continue;
    found->second.planned_wakeup = never;
    tend(found->second, now);
  }
  take_in_aside(now);
}

void ReaderCache::tend(ReaderInstance& instance, Now now) {
  if (now.monotonic >= instance.next_sample_at) release_deferred(instance, now);
  check_deadline(instance, now);
  if (now.realtime >= instance.first_expiry) expire(instance, now);
  purge(instance, now);
  plan(instance, now);
  forget_if_done(instance);
}

// The newest sample of the separation that has passed.
void ReaderCache::release_deferred(ReaderInstance& instance, Now now) {
  if (!instance.deferred) return;
  const Room room = room_for(&instance);
  auto writer = writers_.find(instance.deferred->writer);
  if (room != Room::yes && is_reliable()) {
    instance.next_sample_at = after(now.monotonic, options_.qos.time_based_filter.minimum_separation);
    return;
  }
  ReaderInstance::Deferred deferred = std::move(*instance.deferred);
  instance.deferred.reset();
  if (writer == writers_.end()) return;
  if (room != Room::yes) {
    reject(writer->second, deferred.sample, room);
    return;
  }
  const std::chrono::nanoseconds deadline = instance.deadline;
  take_in(instance, {writer->second, deferred.sample, deferred.reception_timestamp}, now);
  instance.deadline = deadline;  // it counted when it came
}

void ReaderCache::check_deadline(ReaderInstance& instance, Now now) {
  if (instance.deadline > now.monotonic || instance.state() != instance_state::alive) return;
  const Duration period = options_.qos.deadline.period;
  const auto missed = (now.monotonic - instance.deadline) / period + 1;
  instance.deadline += missed * period;
  add_news().deadlines_missed.push_back({static_cast<std::int32_t>(std::min<std::int64_t>(missed, 1 << 20)),
                                         instance_handle(instance.key_hash())});
  if (!is_exclusive()) return;
  if (const topics::EndpointId* heard = owner(instance)) instance.find_writer(*heard)->deadline_missed = true;
}

void ReaderCache::expire(ReaderInstance& instance, Now now) {
  instance.first_expiry = never;
  for (std::size_t k = instance.samples.size(); k-- > 0;) {
    const Timestamp expires = instance.samples[k]->expires;
    if (expires <= now.realtime)
      drop(instance, k);
    else
      instance.first_expiry = std::min(instance.first_expiry, expires);
  }
}

// READER_DATA_LIFECYCLE.
void ReaderCache::purge(ReaderInstance& instance, Now now) {
  if (purge_time(instance) <= now.monotonic) drop_all(instance);
}

std::chrono::nanoseconds ReaderCache::purge_time(const ReaderInstance& instance) const {
  const qos::ReaderDataLifecycle& lifecycle = options_.qos.reader_data_lifecycle;
  if (instance.samples.empty() || instance.state() == instance_state::alive) return never;
  return after(instance.state_since, instance.state() == instance_state::not_alive_disposed
                                         ? lifecycle.autopurge_disposed_samples_delay
                                         : lifecycle.autopurge_nowriter_samples_delay);
}

void ReaderCache::plan_wakeup(ReaderInstance& instance, Now now) {
  std::chrono::nanoseconds first = purge_time(instance);
  if (instance.deferred) first = std::min(first, instance.next_sample_at);
  if (instance.state() == instance_state::alive) first = std::min(first, instance.deadline);
  if (instance.first_expiry != never) {
    const Duration left = std::max(Duration::zero(), instance.first_expiry - now.realtime);
    first = std::min(first, after(now.monotonic, left));
  }
  if (first >= instance.planned_wakeup) return;
  instance.planned_wakeup = first;
  wakeups_.add(first, instance.key_hash());
}

void ReaderCache::set_qos(const qos::DataReaderQos& qos, Now now) {
  now_ = now;
  const Duration old_separation = options_.qos.time_based_filter.minimum_separation;
  const bool new_deadline = options_.qos.deadline != qos.deadline;
  options_.qos = qos;
  is_limited_ = qos.resource_limits != qos::ResourceLimits{};
  const Duration separation = qos.time_based_filter.minimum_separation;
  for (auto& [key_hash, instance] : instances_) {
    if (new_deadline && instance.state() == instance_state::alive) arm_deadline(instance, now);
    if (separation != old_separation && instance.next_sample_at > now.monotonic) {
      instance.next_sample_at = after(now.monotonic, separation);
    }
    plan(instance, now);
  }
}

}  // namespace llamada::dcps
