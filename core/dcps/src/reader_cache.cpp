#include "reader_cache.hpp"

#include <algorithm>
#include <utility>

namespace llamada::dcps {
namespace {

using topics::ChangeKind;

Timestamp source_timestamp(const topics::Sample& sample) {
  return Timestamp(sample.header().source_timestamp_ns);
}

bool is_dispose(ChangeKind kind) {
  return kind == ChangeKind::disposed || kind == ChangeKind::disposed_unregistered;
}

bool is_unregister(ChangeKind kind) {
  return kind == ChangeKind::unregistered || kind == ChangeKind::disposed_unregistered;
}

}  // namespace

ReaderCache::ReaderCache(ReaderCacheOptions options)
    : options_(std::move(options)), is_limited_(options_.qos.resource_limits != qos::ResourceLimits{}) {}

void ReaderCache::add_writer(const CacheWriter& writer) {
  Writer& entry = writers_[writer.id];
  entry.info = writer;
  entry.sets.begin_after(writer.passed_set);
}

void ReaderCache::update_writer(const CacheWriter& writer) {
  auto found = writers_.find(writer.id);
  if (found != writers_.end()) found->second.info = writer;
}

void ReaderCache::remove_writer(const topics::EndpointId& writer, Now now) {
  now_ = now;
  auto found = writers_.find(writer);
  if (found == writers_.end()) return;
  found->second.gone = true;
  found->second.sets.close();
  release_sets(found->second, now);
  unregister_from_all(writer, now);
  take_in_aside(now);
  forget_if_gone(writer, now);
}

// A writer that left sets or samples that wait is remembered until they are let go.
void ReaderCache::forget_if_gone(const topics::EndpointId& writer, Now now) {
  auto found = writers_.find(writer);
  if (found == writers_.end() || !found->second.gone || !found->second.sets.empty()) return;
  if (has_aside(writer)) return;
  unregister_from_all(writer, now);
  latest_writer_ = nullptr;
  writers_.erase(found);
}

void ReaderCache::writer_not_alive(const topics::EndpointId& writer, Now now) {
  now_ = now;
  unregister_from_all(writer, now);
  take_in_aside(now);
}

void ReaderCache::unregister_from_all(const topics::EndpointId& writer, Now now) {
  for (auto next = instances_.begin(); next != instances_.end();) {
    ReaderInstance& instance = next->second;
    ++next;  // the instance may be forgotten
    unregister(instance, writer, now.realtime, now);
  }
}

bool ReaderCache::on_sample(const topics::EndpointId& writer, topics::Sample&& sample, Now now) {
  now_ = now;
  if (frozen_) return false;
  Writer* known = find_writer(writer);
  if (known == nullptr) return true;
  bool has_room = true;
  if (hold_for_set(*known, sample, now, has_room)) return has_room;
  const bool is_done = admit({*known, sample, now.realtime}, now);
  take_in_aside(now);
  return is_done;
}

ReaderCache::Writer* ReaderCache::find_writer(const topics::EndpointId& id) {
  if (latest_writer_ != nullptr && latest_writer_->info.id == id) return latest_writer_;
  const auto found = writers_.find(id);
  return latest_writer_ = found == writers_.end() ? nullptr : &found->second;
}

void ReaderCache::on_samples_lost(const topics::EndpointId& writer, std::uint64_t count) {
  auto found = writers_.find(writer);
  if (found != writers_.end()) found->second.sets.lost();
  add_news().lost_count += static_cast<std::int32_t>(std::min<std::uint64_t>(count, 1u << 30));
}

void ReaderCache::on_known_sample(const topics::EndpointId& writer, const topics::SampleHeader& header,
                                  Now now) {
  now_ = now;
  ReaderInstance* instance = find_instance(header.instance);
  if (instance == nullptr || header.kind == ChangeKind::coherent_end) return;
  if (is_unregister(header.kind))
    unregister(*instance, writer, Timestamp(header.source_timestamp_ns), now);
  else if (instance->state() != instance_state::not_alive_no_writers)
    instance->add_writer(writer);
}

bool ReaderCache::admit(const Arrival& arrival, Now now) {
  if (is_aside(arrival.sample.header().instance)) return set_aside(arrival, Room::no_instances);
  if (arrival.sample.header().kind == ChangeKind::alive) return admit_data(arrival, now);
  return admit_change(arrival, now);
}

bool ReaderCache::admit_data(const Arrival& arrival, Now now) {
  const topics::Sample& sample = arrival.sample;
  if (is_filtered(sample)) return true;
  if (after(source_timestamp(sample), arrival.writer.info.lifespan) <= now.realtime) return true;
  ReaderInstance* instance = find_instance(sample.header().instance);
  if (instance != nullptr) {
    if (is_of_other_key(*instance, sample)) return reject_key(sample);
    instance->add_writer(arrival.writer.info.id);
    if (!is_heard(*instance, arrival.writer.info.id) ||
        is_out_of_order(*instance, arrival.writer.info.id, sample)) {
      return true;
    }
    if (now.monotonic < instance->next_sample_at) {
      arrival.sample.let_evacuate(true);
      instance->deferred = {arrival.writer.info.id, std::move(arrival.sample), arrival.reception_timestamp};
      arm_deadline(*instance, now);
      plan(*instance, now);
      return true;
    }
  }
  const Room room = room_for(instance);
  if (room == Room::no_instances) return set_aside(arrival, room);
  if (room != Room::yes) return reject(arrival.writer, sample, room);
  take_in(instance != nullptr ? *instance : instance_for(sample), arrival, now);
  return true;
}

void ReaderCache::take_in(ReaderInstance& instance, const Arrival& arrival, Now now) {
  const topics::EndpointId& writer = arrival.writer.info.id;
  const Timestamp timestamp = source_timestamp(arrival.sample);
  instance.add_writer(writer);
  arm_deadline(instance, now);
  if (!make_history_room(instance, timestamp)) return;
  instance.became_alive();
  CachedSample& cached = insert(instance, arrival.writer.info, timestamp, arrival.reception_timestamp);
  cached.sample = std::move(arrival.sample);
  cached.expires = after(timestamp, arrival.writer.info.lifespan);
  instance.first_expiry = std::min(instance.first_expiry, cached.expires);
  instance.next_sample_at = after(now.monotonic, options_.qos.time_based_filter.minimum_separation);
  cached.sample.let_evacuate(true);
  ++instance.valid_count;
  ++valid_count_;
  plan(instance, now);
}

bool ReaderCache::admit_change(const Arrival& arrival, Now now) {
  const topics::SampleHeader& header = arrival.sample.header();
  const topics::EndpointId writer = arrival.writer.info.id;
  ReaderInstance* found = find_instance(header.instance);
  if (found == nullptr) {
    if (!is_dispose(header.kind)) return true;
    const Room room = room_for(nullptr);
    if (room == Room::no_instances) return set_aside(arrival, room);
  } else if (is_of_other_key(*found, arrival.sample)) {
    return reject_key(arrival.sample);
  }
  ReaderInstance& instance = instance_for(arrival.sample);
  const Timestamp timestamp = source_timestamp(arrival.sample);
  const bool unregisters = is_unregister(header.kind);
  if (is_dispose(header.kind)) {
    instance.add_writer(writer);
    if (is_heard(instance, writer) && !is_out_of_order(instance, writer, arrival.sample))
      dispose(instance, arrival, now);
  }
  if (unregisters)
    unregister(instance, writer, timestamp, now);
  else
    plan(instance, now);
  return true;
}

void ReaderCache::dispose(ReaderInstance& instance, const Arrival& arrival, Now now) {
  release_deferred(instance, now);
  if (!instance.dispose()) return;
  instance.state_since = now.monotonic;
  instance.deadline = never;
  insert_marker(instance, arrival.writer.info.id, source_timestamp(arrival.sample), now);
}

void ReaderCache::unregister(ReaderInstance& instance, const topics::EndpointId& writer, Timestamp timestamp,
                             Now now) {
  if (instance.find_writer(writer) == nullptr) return;
  if (instance.deferred && instance.deferred->writer == writer) release_deferred(instance, now);
  if (instance.remove_writer(writer)) {
    instance.state_since = now.monotonic;
    instance.deadline = never;
    insert_marker(instance, writer, timestamp, now);
  }
  plan(instance, now);
  forget_if_done(instance);
}

// Counts a rejection once, however often the sample is offered.
bool ReaderCache::reject(Writer& writer, const topics::Sample& sample, Room room) {
  const std::uint64_t number = sample.header().sequence_number;
  if (offers_aside_) return !is_reliable();  // it was told when it came
  if (number == 0 || writer.last_rejected != number) {
    const auto reason = room == Room::no_instances ? SampleRejectedKind::rejected_by_instances_limit
                        : room == Room::no_samples
                            ? SampleRejectedKind::rejected_by_samples_limit
                            : SampleRejectedKind::rejected_by_samples_per_instance_limit;
    add_news().rejected.push_back({reason, instance_handle(sample.header().instance)});
    writer.last_rejected = number;
  }
  return !is_reliable();
}

// Whether the sample's instance only shares its hash with this one. A key that cannot be read is let through,
// as the sample is, so that who reads it finds what is wrong with it.
bool ReaderCache::has_other_key(ReaderInstance& instance, const topics::Sample& sample) const {
  if (!options_.is_hash_ambiguous(instance.key_hash())) return false;
  Key key = key_of(sample);
  if (key.empty()) return false;
  if (!instance.key.empty()) return instance.key != key;
  instance.key = std::move(key);
  return false;
}

// Waiting would not help, so the writer is not to offer it again: it is lost, and why is told.
bool ReaderCache::reject_key(const topics::Sample& sample) {
  ReaderCacheNews& news = add_news();
  news.rejected.push_back(
      {SampleRejectedKind::rejected_by_key_hash, instance_handle(sample.header().instance)});
  ++news.lost_count;
  return true;
}

bool ReaderCache::is_filtered(const topics::Sample& sample) const {
  return options_.filter && !options_.filter(sample.data());
}

// Only the order of the sources can be wrong: a sample is too late when a later one was given to the
// application, or a later change of the instance was seen.
bool ReaderCache::is_out_of_order(const ReaderInstance& instance, const topics::EndpointId& writer,
                                  const topics::Sample& sample) const {
  if (!by_source()) return false;
  const Timestamp timestamp = source_timestamp(sample);
  // What the heir of an EXCLUSIVE instance says again, or had said before, is known.
  if (is_exclusive() && writer != instance.latest_writer && timestamp <= instance.latest_source_timestamp)
    return true;
  if (instance.state() != instance_state::alive || is_dispose(sample.header().kind)) {
    return timestamp < instance.latest_source_timestamp;
  }
  return timestamp < instance.given_through;
}

bool ReaderCache::is_heard(ReaderInstance& instance, const topics::EndpointId& writer) const {
  if (!is_exclusive()) return true;
  const topics::EndpointId* heard = owner(instance);
  return heard != nullptr && *heard == writer;
}

// The strongest of those that write the instance and keep its deadline; among equals the lower id, so that
// all readers agree.
const topics::EndpointId* ReaderCache::owner(const ReaderInstance& instance) const {
  const topics::EndpointId* best = nullptr;
  for (const ReaderInstance::Writer& each : instance.writers()) {
    if (each.deadline_missed) continue;
    if (best == nullptr || outranks(each.id, *best)) best = &each.id;
  }
  return best;
}

bool ReaderCache::outranks(const topics::EndpointId& a, const topics::EndpointId& b) const {
  const auto strength = [this](const topics::EndpointId& id) {
    auto found = writers_.find(id);
    return found == writers_.end() ? INT32_MIN : found->second.info.strength;
  };
  const std::int32_t strength_a = strength(a);
  const std::int32_t strength_b = strength(b);
  return strength_a != strength_b ? strength_a > strength_b : a < b;
}

void ReaderCache::thaw() {
  frozen_ = false;
  visit_samples([](CachedSample& sample) { sample.hidden = false; });
}

}  // namespace llamada::dcps
