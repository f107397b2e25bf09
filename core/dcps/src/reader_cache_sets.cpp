// Coherent sets: held until they are whole, then taken in as one step.
#include <algorithm>
#include <map>

#include "reader_cache.hpp"

namespace llamada::dcps {
namespace {

bool is_above(std::size_t count, std::int32_t limit) {
  return limit != qos::length_unlimited && count > static_cast<std::size_t>(limit);
}

}  // namespace

// True: the sample was dealt with here, and `has_room` is the answer to whoever offered it.
bool ReaderCache::hold_for_set(Writer& writer, topics::Sample& sample, Now now, bool& has_room) {
  const bool is_end = sample.header().kind == topics::ChangeKind::coherent_end;
  if (!options_.presentation.coherent_access) return is_end;
  if (is_end) {
    if (auto count = coherent_end_sample_count(sample.data())) {
      writer.sets.end(sample.header().coherent_set, *count);
    } else {
      writer.sets.close();
    }
    release_sets(writer, now);
    return true;
  }
  const std::size_t held = writer.sets.held_count();
  if (held > 0 && is_above(held + static_cast<std::size_t>(stored_count()) + 1,
                           options_.qos.resource_limits.max_samples)) {
    if (stored_count() > 0) {
      has_room = reject(writer, sample, Room::no_samples);
      if (has_room) writer.sets.lost();
      return true;
    }
    // Nothing can be taken to make room: the set can never be whole here.
    reject(writer, sample, Room::no_samples);
    add_news().lost_count += static_cast<std::int32_t>(writer.sets.abandon());
  }
  if (!writer.sets.hold(std::move(sample), now.realtime)) return false;
  release_sets(writer, now);
  return true;
}

void ReaderCache::release_sets(Writer& writer, Now now) {
  while (const CoherentSets::Set* set = writer.sets.first_ended()) {
    if (set->number != 0 && holds_sets_for_group()) return;
    if (set->whole && !fits(*set) && fits_ever(*set)) return;  // until samples are taken
    const bool whole = set->whole;
    admit_set(writer, writer.sets.take_first(), whole, now);
  }
}

void ReaderCache::release_waiting_sets(Now now) {
  std::vector<topics::EndpointId> gone;
  for (auto& [id, writer] : writers_) {
    release_sets(writer, now);
    if (writer.gone) gone.push_back(id);
  }
  for (const topics::EndpointId& id : gone) forget_if_gone(id, now);
}

void ReaderCache::admit_set(Writer& writer, CoherentSets::Set set, bool whole, Now now) {
  if (!whole || !fits(set)) {
    if (whole && !set.samples.empty()) reject(writer, set.samples.back().sample, Room::no_samples);
    add_news().lost_count += static_cast<std::int32_t>(set.samples.size());
    return;
  }
  if (has_other_keys(set)) {
    add_news().lost_count += static_cast<std::int32_t>(set.samples.size()) - 1;
    return;
  }
  for (CoherentSets::Held& held : set.samples) admit({writer, held.sample, held.reception_timestamp}, now);
}

// Whether a sample of the set cannot be told apart from another instance, of the cache or of the set: then
// none is taken in. One is told of as rejected.
bool ReaderCache::has_other_keys(const CoherentSets::Set& set) {
  if (!options_.is_hash_ambiguous) return false;
  std::map<std::uint64_t, Key> keys;
  for (const CoherentSets::Held& held : set.samples) {
    const std::uint64_t key_hash = held.sample.header().instance;
    if (!options_.is_hash_ambiguous(key_hash)) continue;
    auto found = instances_.find(key_hash);
    const Key key = key_of(held.sample);
    const bool other = found != instances_.end() ? is_of_other_key(found->second, held.sample)
                                                 : keys.try_emplace(key_hash, key).first->second != key;
    if (!other) continue;
    reject_key(held.sample);
    return true;
  }
  return false;
}

// Whether all samples of the set can be taken in now.
bool ReaderCache::fits(const CoherentSets::Set& set) const {
  const qos::ResourceLimits& limits = options_.qos.resource_limits;
  std::map<std::uint64_t, std::size_t> per_instance;
  for (const CoherentSets::Held& held : set.samples) ++per_instance[held.sample.header().instance];
  std::size_t instance_count = instances_.size();
  std::size_t sample_count = static_cast<std::size_t>(stored_count());
  for (auto [key_hash, count] : per_instance) {
    auto found = instances_.find(key_hash);
    std::size_t held = 0;
    if (found == instances_.end()) {
      ++instance_count;
    } else {
      held = static_cast<std::size_t>(found->second.valid_count) +
             static_cast<std::size_t>(found->second.lent_count);
    }
    if (options_.qos.history.kind == qos::HistoryKind::keep_last) {
      const auto depth = static_cast<std::size_t>(options_.qos.history.depth);
      count = held >= depth ? 0 : std::min(count, depth - held);
    }
    if (is_above(held + count, limits.max_samples_per_instance)) return false;
    sample_count += count;
  }
  return !is_above(instance_count, limits.max_instances) && !is_above(sample_count, limits.max_samples);
}

// Whether they could be if the application took all there is.
bool ReaderCache::fits_ever(const CoherentSets::Set& set) const {
  return stored_count() > 0 && !is_above(set.samples.size(), options_.qos.resource_limits.max_samples);
}

std::vector<ReaderCache::WaitingSet> ReaderCache::waiting_sets() const {
  std::vector<WaitingSet> found;
  for (const auto& [id, writer] : writers_) {
    if (const CoherentSets::Set* set = writer.sets.first_ended()) {
      found.push_back({id, writer.info.publisher, set->number, set->whole});
    }
  }
  return found;
}

std::uint32_t ReaderCache::ended_through(std::uint64_t participant, std::uint64_t publisher) const {
  std::uint32_t number = 0;
  for (const auto& [id, writer] : writers_) {
    if (id.participant == participant && writer.info.publisher == publisher) {
      number = std::max(number, writer.sets.ended_through());
    }
  }
  return number;
}

bool ReaderCache::has_passed(std::uint64_t participant, std::uint64_t publisher, std::uint32_t set) const {
  for (const auto& [id, writer] : writers_) {
    const bool concerned = id.participant == participant && writer.info.publisher == publisher;
    if (concerned && !writer.gone && writer.sets.ended_through() < set) return false;
  }
  return true;
}

void ReaderCache::release_set(const topics::EndpointId& writer, bool whole, Now now) {
  now_ = now;
  auto found = writers_.find(writer);
  if (found == writers_.end() || found->second.sets.first_ended() == nullptr) return;
  admit_set(found->second, found->second.sets.take_first(), whole, now);
  release_sets(found->second, now);
  forget_if_gone(writer, now);
}

}  // namespace llamada::dcps
