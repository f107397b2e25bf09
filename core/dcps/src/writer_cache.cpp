#include "writer_cache.hpp"

#include <algorithm>
#include <utility>

namespace llamada::dcps {

void WriterCache::set_qos(const qos::DataWriterQos& qos, Now now) {
  const bool new_deadline = qos.deadline != qos_.deadline;
  qos_ = qos;
  if (!new_deadline) return;
  for (auto& [key_hash, instance] : instances_) {
    if (qos_.deadline.period == qos::duration_infinite) {
      instance.deadline = never;
    } else {
      instance.deadline = after(now.monotonic, qos_.deadline.period);
    }
    plan(key_hash, instance);
  }
}

Status WriterCache::register_instance(std::uint64_t key_hash, std::vector<std::byte> key) {
  auto found = instances_.find(key_hash);
  if (found != instances_.end() && found->second.key != key) {
    return failure(
        Errc::unsupported,
        "two keys have the same hash {:#x}, and the writer has registered one of them: unregister it "
        "before the other is written",
        key_hash);
  }
  if (found != instances_.end()) return {};
  const std::int32_t limit = qos_.resource_limits.max_instances;
  if (limit != qos::length_unlimited && instances_.size() >= static_cast<std::size_t>(limit)) {
    return failure(Errc::out_of_resources,
                   "RESOURCE_LIMITS: the writer has registered max_instances {}; unregister one or raise it",
                   limit);
  }
  instances_[key_hash].key = std::move(key);
  return {};
}

bool WriterCache::has_key(std::uint64_t key_hash, const std::vector<std::byte>& key) const {
  auto found = instances_.find(key_hash);
  return found != instances_.end() && found->second.key == key;
}

Status WriterCache::unregister_instance(std::uint64_t key_hash) {
  if (instances_.erase(key_hash) > 0) return {};
  return failure(Errc::precondition_not_met, "the writer has not registered the instance");
}

Result<std::vector<std::byte>> WriterCache::key(std::uint64_t key_hash) const {
  auto found = instances_.find(key_hash);
  if (found == instances_.end())
    return failure(Errc::not_found, "the writer has no instance with this handle");
  return found->second.key;
}

std::vector<std::uint64_t> WriterCache::instances() const {
  std::vector<std::uint64_t> key_hashes;
  for (const auto& [key_hash, instance] : instances_) key_hashes.push_back(key_hash);
  return key_hashes;
}

void WriterCache::wrote(std::uint64_t key_hash, Now now) {
  if (qos_.deadline.period == qos::duration_infinite) return;
  Instance& instance = instances_[key_hash];
  instance.deadline = after(now.monotonic, qos_.deadline.period);
  plan(key_hash, instance);
}

void WriterCache::disposed(std::uint64_t key_hash) {
  auto found = instances_.find(key_hash);
  if (found != instances_.end()) found->second.deadline = never;
}

void WriterCache::plan(std::uint64_t key_hash, Instance& instance) {
  if (instance.deadline >= instance.planned_wakeup) return;
  instance.planned_wakeup = instance.deadline;
  wakeups_.add(instance.deadline, key_hash);
}

std::vector<WriterCache::Missed> WriterCache::advance(Now now) {
  std::vector<Missed> missed;
  std::uint64_t key_hash = 0;
  while (wakeups_.pop_due(now.monotonic, key_hash)) {
    auto found = instances_.find(key_hash);
    if (found == instances_.end()) continue;
    Instance& instance = found->second;
    instance.planned_wakeup = never;
    if (instance.deadline <= now.monotonic) {
      const Duration period = qos_.deadline.period;
      const auto count = (now.monotonic - instance.deadline) / period + 1;
      instance.deadline += count * period;
      missed.push_back({key_hash, static_cast<std::int32_t>(std::min<std::int64_t>(count, 1 << 20))});
    }
    plan(key_hash, instance);
  }
  return missed;
}

}  // namespace llamada::dcps
