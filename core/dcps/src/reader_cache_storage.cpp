// Where the samples are kept, and when there is room for one more.
#include <algorithm>
#include <utility>

#include "reader_cache.hpp"

namespace llamada::dcps {
namespace {

bool is_full(std::int64_t count, std::int32_t limit) {
  return limit != qos::length_unlimited && count >= limit;
}

}  // namespace

ReaderInstance* ReaderCache::look_up_instance(std::uint64_t key_hash) {
  const auto found = instances_.find(key_hash);
  return latest_instance_ = found == instances_.end() ? nullptr : &found->second;
}

// For one more sample of the instance; nullptr: it is not known yet.
ReaderCache::Room ReaderCache::room_within_limits(const ReaderInstance* known) const {
  const qos::ResourceLimits& limits = options_.qos.resource_limits;
  std::int32_t stored = stored_count();
  if (known == nullptr) {
    if (is_full(static_cast<std::int64_t>(instances_.size()), limits.max_instances))
      return Room::no_instances;
    return is_full(stored, limits.max_samples) ? Room::no_samples : Room::yes;
  }
  const ReaderInstance& instance = *known;
  std::int32_t in_instance = instance.valid_count + instance.lent_count;
  const qos::History& history = options_.qos.history;
  if (history.kind == qos::HistoryKind::keep_last && instance.valid_count >= history.depth &&
      instance.samples[oldest_with_data(instance)]->loans == 0) {
    --stored;  // it will go
    --in_instance;
  }
  if (is_full(in_instance, limits.max_samples_per_instance)) return Room::no_samples_per_instance;
  return is_full(stored, limits.max_samples) ? Room::no_samples : Room::yes;
}

ReaderInstance& ReaderCache::instance_for(const topics::Sample& sample) {
  const std::uint64_t key_hash = sample.header().instance;
  if (ReaderInstance* known = find_instance(key_hash)) return *known;
  ReaderInstance& instance = instances_.emplace(key_hash, ReaderInstance(key_hash)).first->second;
  instance.key = key_of(sample);
  return instance;
}

// Empty if there is none, or the sample is malformed.
ReaderCache::Key ReaderCache::key_of(const topics::Sample& sample) const {
  if (!options_.key_of) return {};
  const auto data = sample.data();
  if (sample.header().kind == topics::ChangeKind::alive) return options_.key_of(data);
  return {data.begin(), data.end()};  // a change without data carries the key itself
}

// With KEEP_LAST the oldest sample makes room. False: the new one would be the oldest.
bool ReaderCache::drop_oldest(ReaderInstance& instance, Timestamp source_timestamp) {
  if (instance.valid_count < options_.qos.history.depth) return true;
  const std::size_t oldest = oldest_with_data(instance);
  if (by_source() && source_timestamp < instance.samples[oldest]->source_timestamp) return false;
  drop(instance, oldest);
  return true;
}

std::size_t ReaderCache::oldest_with_data(const ReaderInstance& instance) const {
  std::size_t index = 0;
  while (!instance.samples[index]->valid_data) ++index;
  return index;
}

CachedSample& ReaderCache::insert(ReaderInstance& instance, const CacheWriter& writer,
                                  Timestamp source_timestamp, Timestamp reception_timestamp) {
  CachedSample* sample = nullptr;
  if (free_.empty()) {
    sample = &storage_.emplace_back();
  } else {
    sample = free_.back();
    free_.pop_back();
  }
  sample->writer = writer.id;
  sample->instance = instance.key_hash();
  std::uint64_t& counter = options_.order_counter != nullptr ? *options_.order_counter : own_order_counter_;
  sample->order = counter++;
  sample->publisher = writer.publisher;
  sample->source_timestamp = source_timestamp;
  sample->reception_timestamp = reception_timestamp;
  sample->disposed_generation_count = instance.disposed_generation_count();
  sample->no_writers_generation_count = instance.no_writers_generation_count();
  if (by_source()) {
    auto position = instance.samples.end();
    while (position != instance.samples.begin() &&
           (*std::prev(position))->source_timestamp > source_timestamp) {
      --position;
    }
    instance.samples.insert(position, sample);
  } else {
    instance.samples.push_back(sample);
  }
  if (source_timestamp >= instance.latest_source_timestamp) {
    instance.latest_source_timestamp = source_timestamp;
    instance.latest_writer = writer.id;
  }
  remember_filled(instance);
  add_news().data = true;
  return *sample;
}

// A sample without data that tells the instance's state. One of them is enough: the state is told as it is
// when it is read.
void ReaderCache::insert_marker(ReaderInstance& instance, const topics::EndpointId& writer,
                                Timestamp source_timestamp, Now now) {
  for (std::size_t k = 0; k < instance.samples.size(); ++k) {
    if (instance.samples[k]->valid_data) continue;
    drop(instance, k);
    break;
  }
  const Writer* known = find_writer(writer);
  const CacheWriter info = known != nullptr ? known->info : CacheWriter{.id = writer};
  insert(instance, info, source_timestamp, now.realtime).valid_data = false;
}

void ReaderCache::drop(ReaderInstance& instance, std::size_t index) {
  CachedSample* sample = instance.samples[index];
  instance.samples.erase(instance.samples.begin() + index);
  let_go(instance, sample);
}

void ReaderCache::drop_all(ReaderInstance& instance) {
  while (!instance.samples.empty()) drop(instance, instance.samples.size() - 1);
}

// The sample has left the instance's list. While it is on loan it counts as stored.
void ReaderCache::let_go(ReaderInstance& instance, CachedSample* sample) {
  sample->cached = false;
  if (sample->valid_data) {
    --instance.valid_count;
    --valid_count_;
  }
  if (sample->loans == 0) return recycle(sample);
  ++instance.taken_count;
  if (sample->valid_data) {
    ++instance.lent_count;
    ++lent_count_;
  }
}

void ReaderCache::give_back(CachedSample* sample) {
  --loan_count_;
  if (--sample->loans > 0) return;
  if (sample->cached) return sample->sample.let_evacuate(true);
  ReaderInstance& instance = *find_instance(sample->instance);  // not forgotten while it has loans
  --instance.taken_count;
  if (sample->valid_data) {
    --lent_count_;
    --instance.lent_count;
  }
  forget_if_done(instance);
  recycle(sample);
  release_all_sets(now_);
  take_in_aside(now_);
}

void ReaderCache::recycle(CachedSample* sample) {
  sample->clear();
  free_.push_back(sample);
}

// Instances that hold samples are in a list of their own, so that a take need not look at all.
void ReaderCache::remember_filled(ReaderInstance& instance) {
  if (instance.filled_index != std::size_t(-1)) return;
  instance.filled_index = filled_.size();
  filled_.push_back(&instance);
}

// An instance that nobody writes and of which nothing is left, on loan neither, is no longer known.
void ReaderCache::forget_emptied(ReaderInstance& instance) {
  if (instance.filled_index != std::size_t(-1)) {
    ReaderInstance* last = filled_.back();
    filled_[instance.filled_index] = last;
    last->filled_index = instance.filled_index;
    filled_.pop_back();
    instance.filled_index = std::size_t(-1);
  }
  if (instance.state() == instance_state::alive || !instance.writers().empty() || instance.deferred) return;
  if (instance.taken_count > 0) return;
  latest_instance_ = nullptr;
  if (options_.key_of) forgotten_.remember(instance.key_hash(), std::move(instance.key));
  instances_.erase(instance.key_hash());
}

Result<std::vector<std::byte>> ReaderCache::key_value(std::uint64_t key_hash) const {
  const auto found = instances_.find(key_hash);
  if (found != instances_.end()) return found->second.key;
  if (const Key* key = forgotten_.find(key_hash)) return *key;
  return failure(Errc::not_found, "the reader knows no instance with this handle");
}

bool ReaderCache::has_key(std::uint64_t key_hash, std::span<const std::byte> key) const {
  auto found = instances_.find(key_hash);
  return found != instances_.end() &&
         std::equal(found->second.key.begin(), found->second.key.end(), key.begin(), key.end());
}

ReaderCacheNews ReaderCache::take_news() {
  has_news_ = false;
  return std::exchange(news_, {});
}

void ReaderCache::visit_samples(const std::function<void(CachedSample&)>& visit) {
  for (ReaderInstance* instance : filled_) {
    for (CachedSample* sample : instance->samples) visit(*sample);
  }
}

}  // namespace llamada::dcps
