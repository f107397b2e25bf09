#include "topic_keeper.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace llamada::service {

using topics::ChangeKind;

namespace {

constexpr std::int64_t expiry_period_ns = 1'000'000'000;

bool is_disposal(ChangeKind kind) {
  return kind == ChangeKind::disposed || kind == ChangeKind::disposed_unregistered;
}

bool is_by_source(const qos::EndpointQos& writer) {
  return writer.datawriter.destination_order.kind == qos::DestinationOrderKind::by_source_timestamp;
}

bool is_unregistration(ChangeKind kind) {
  return kind == ChangeKind::unregistered || kind == ChangeKind::disposed_unregistered;
}

}  // namespace

TopicKeeper::TopicKeeper(store::Store& store, KeptTopic topic, const Clock& clock, Say say)
    : store_(store),
      topic_(std::move(topic)),
      clock_(clock),
      say_(std::move(say)),
      history_([this](const KeptHistory::Entry& entry) { dropped(entry); }) {}

Result<std::unique_ptr<TopicKeeper>> TopicKeeper::open(store::Store& store, const KeptTopic& topic,
                                                       const Clock& clock, Say say) {
  std::unique_ptr<TopicKeeper> keeper(new TopicKeeper(store, topic, clock, std::move(say)));
  auto stream = store.stream(stream_name(topic.key), encode(topic));
  if (!stream) return propagate(stream);
  keeper->stream_ = *stream;
  if (auto loaded = keeper->load(); !loaded) return propagate(loaded);
  return keeper;
}

// What was kept before.

Status TopicKeeper::load() {
  const auto infos = store_.streams();
  const auto known =
      std::find_if(infos.begin(), infos.end(), [&](const auto& each) { return each.id == stream_; });
  if (known == infos.end()) return {};  // it is declared in the open batch
  next_number_ = known->used + 1;
  // All that lies there was to be kept when it was written, whichever record stands behind it.
  const std::int64_t now_ns = clock_.monotonic().count();
  history_.set_policy(
      {.service_cleanup_delay = qos::duration_infinite, .history_kind = qos::HistoryKind::keep_all}, now_ns);
  std::uint64_t damaged_count = 0;
  Status loaded;
  const auto read = store_.read(
      stream_, 1,
      [&](const store::Item& item) {
        loaded = load_item(item);
        return loaded.has_value();
      },
      [&](std::uint64_t) { ++damaged_count; });
  if (damaged_count > 0)
    say_(fmt::format("topic '{}': {} samples or records are damaged on the disk and are not given to readers",
                     topic_.key.topic, damaged_count));
  history_.set_policy(loaded_policy_, now_ns);
  return read ? loaded : read;
}

Status TopicKeeper::reload() {
  const auto before = std::exchange(writers_, {});
  std::vector<std::pair<std::uint64_t, topics::Guid>> written;
  for (const auto& [instance, writer] : history_.written())
    written.emplace_back(instance, before[writer].guid);
  const qos::DurabilityService policy = history_.policy();
  indices_.clear();
  to_drop_.clear();
  claims_ = {};
  ended_claims_.clear();
  history_ = KeptHistory([this](const KeptHistory::Entry& entry) { dropped(entry); });
  if (auto loaded = load(); !loaded) return loaded;
  for (const Writer& each : before) {
    if (each.guid == topics::Guid()) continue;
    Writer& writer = writers_[index_of(each.guid)];
    writer.seen.add(each.seen);
    writer.is_here = each.is_here;
    writer.is_deleted = each.is_deleted;
    writer.begins = each.begins;
    if (each.is_here) writer.qos = each.qos;
    writer.rank = each.rank;
    writer.last_word_ns = std::max(writer.last_word_ns, each.last_word_ns);
  }
  if (has_policy_) history_.set_policy(policy, clock_.monotonic().count());
  for (const auto& [instance, guid] : written)
    if (writers_[index_of(guid)].is_here) history_.writes(instance, index_of(guid));
  return {};
}

Status TopicKeeper::load_item(const store::Item& item) {
  if (item.kind == item_writer) {
    auto kept = decode_writer(item);
    if (!kept) return propagate(kept);
    Writer& writer = writers_[index_of(kept->guid)];
    if (writer.record != 0) to_drop_.push_back(writer.record);
    writer.record = item.number;
    writer.record_seen = kept->seen.last();
    writer.seen.add(kept->seen);
    writer.qos = std::move(kept->qos);
    writer.has_changed = false;
    writer.rank.set(writer.qos.datawriter.ownership_strength.value);
    loaded_policy_ = writer.qos.datawriter.durability_service;
    return {};
  }
  if (item.kind == item_claim) return load_claim(item);
  auto sample = decode_sample(item);
  if (!sample) return propagate(sample);
  const std::uint32_t index = index_of(sample->origin.writer);
  Writer& writer = writers_[index];
  if (sample->origin.number <= writer.loaded) {  // an interrupted alignment has left it
    to_drop_.push_back(item.number);
    return {};
  }
  writer.loaded = sample->origin.number;
  writer.seen.through(sample->origin.number);
  writer.last_word_ns = std::max(writer.last_word_ns, sample->source_timestamp_ns);
  count(sample->instance,
        {item.number, sample->source_timestamp_ns, index, sample->kind == ChangeKind::disposed,
         sample->is_merged || is_by_source(writer.qos)},
        sample->origin.number);
  return {};
}

std::uint32_t TopicKeeper::index_of(const topics::Guid& guid) {
  const auto [place, is_new] = indices_.try_emplace(guid, static_cast<std::uint32_t>(writers_.size()));
  if (is_new) {
    writers_.emplace_back().guid = guid;
    writers_.back().rank.endpoint = guid.endpoint;
  }
  return place->second;
}

// Writers.

void TopicKeeper::writer_came(const topics::Guid& guid, std::uint64_t participant,
                              const qos::EndpointQos& qos) {
  Writer& writer = writers_[index_of(guid)];
  const std::int32_t strength = qos.datawriter.ownership_strength.value;
  const bool is_known = writer.record != 0 || writer.is_here;
  is_known ? writer.rank.widen(strength) : writer.rank.set(strength);
  writer.rank.participant = participant;
  writer.begins = writer.begins || !writer.is_here;
  if (!std::exchange(writer.is_here, true)) shows_claims(index_of(guid));
  writer.has_changed = writer.has_changed || !(writer.qos == qos);
  writer.qos = qos;
  adopt_policy(qos.datawriter.durability_service);
}

/// What it writes as the store says: its own memory may no longer show it.
void TopicKeeper::shows_claims(std::uint32_t index) {
  if (claims_.count(index) == 0) return;
  claims_.for_each([&](std::uint64_t instance, const Claims::Claim& claim) {
    if (claim.writer == index) history_.writes(instance, index);
  });
}

void TopicKeeper::writer_begins_behind(const topics::Guid& guid, std::uint32_t pid,
                                       std::uint64_t last) const {
  const std::uint64_t seen = writers_[indices_.at(guid)].seen.last();
  if (seen >= last) return;
  say_(
      fmt::format("topic '{}': the samples {} to {} of a writer of process {} are not in this store, and the "
                  "writer no longer has them: another store has acknowledged them",
                  topic_.key.topic, seen + 1, last, pid));
}

void TopicKeeper::writer_gone(const topics::Guid& guid, bool died) {
  const std::uint32_t index = index_of(guid);
  writers_[index].is_here = false;
  writers_[index].is_deleted = !died;
  history_.writer_gone(index, clock_.monotonic().count());
  claims_end(claims_.remove_all(index));
}

void TopicKeeper::all_gone() {
  for (std::uint32_t index = 0; index < writers_.size(); ++index) {
    if (!writers_[index].is_here) continue;
    writers_[index].is_here = false;
    history_.writer_gone(index, clock_.monotonic().count());
  }
}

bool TopicKeeper::writes(const topics::Guid& guid, std::uint64_t participant, std::uint64_t instance) {
  const std::uint32_t index = index_of(guid);
  writers_[index].rank.participant = participant;
  if (!claim(index, instance, writers_[index].last_word_ns)) return false;
  if (writers_[index].is_here) history_.writes(instance, index);
  return true;
}

void TopicKeeper::for_each_written(const OnWritten& on_written) const {
  const auto tell = [&](std::uint64_t instance, std::uint32_t index) {
    on_written(instance, writers_[index].guid, writers_[index].rank.participant);
  };
  for (const auto& [instance, index] : history_.written())
    if (!claims_.has(instance, index)) tell(instance, index);
  claims_.for_each([&](std::uint64_t instance, const Claims::Claim& each) { tell(instance, each.writer); });
}

/// The policy is the topic's, so that of the first writer counts.
void TopicKeeper::adopt_policy(const qos::DurabilityService& policy) {
  if (!std::exchange(has_policy_, true)) return history_.set_policy(policy, clock_.monotonic().count());
  if (policy == history_.policy() || std::exchange(has_disagreed_, true)) return;
  say_(
      fmt::format("topic '{}': its writers disagree on DURABILITY_SERVICE; it is kept as the first one says "
                  "({}), not as another does ({})",
                  topic_.key.topic, to_string(history_.policy()), to_string(policy)));
}

// Samples.

bool TopicKeeper::take(const topics::Guid& guid, const topics::SampleHeader& header,
                       std::span<const std::byte> data, bool heard) {
  const std::uint32_t index = index_of(guid);
  Writer& writer = writers_[index];
  const bool is_stored = header.kind == ChangeKind::alive || is_disposal(header.kind);
  if (is_stored && !is_unregistration(header.kind) &&
      !claim(index, header.instance, header.source_timestamp_ns))
    return false;
  if (header.sequence_number > writer.seen.last()) {
    if (!skip(writer, header.sequence_number)) return false;
    const KeptHistory::Entry entry{0, header.source_timestamp_ns, index, is_disposal(header.kind),
                                   is_by_source(writer.qos)};
    const bool is_kept = is_stored && heard && !is_said_again(header.instance, entry) &&
                         !history_.is_outdated(header.instance, entry);
    if (is_kept && !append(writer, entry, header, data)) return false;
    writer.seen.through(header.sequence_number);
    writer.begins = false;
  }
  show(index, header);
  return true;
}

/// What a writer no longer has when it is first read here, another service may have taken. That is recorded
/// before anything newer is kept.
bool TopicKeeper::skip(Writer& writer, std::uint64_t number) {
  if (!writer.begins || number <= writer.seen.last() + 1) return true;
  const Seen before = writer.seen;
  writer.seen.begin_at(number);
  writer.has_changed = true;
  if (auto recorded = record(writer); !recorded) {
    writer.seen = before;
    return refuse(recorded.error());
  }
  writer.begins = false;
  return true;
}

bool TopicKeeper::append(Writer& writer, KeptHistory::Entry entry, const topics::SampleHeader& header,
                         std::span<const std::byte> data) {
  if (writer.record == 0)  // its policies come first
    if (auto recorded = record(writer); !recorded) return refuse(recorded.error());
  if (const std::string why = entry.disposes ? std::string() : history_.refusal(header.instance);
      !why.empty())
    return refuse(Error(Errc::out_of_resources, why));
  KeptSample sample;
  sample.origin = {writer.guid, header.sequence_number};
  sample.kind = entry.disposes ? ChangeKind::disposed : ChangeKind::alive;
  const auto head = encode_head(sample);
  store::Item item;
  item.stream = stream_;
  item.number = next_number_;
  item.group = header.instance;
  item.kind = item_sample;
  item.time_ns = header.source_timestamp_ns;
  item.head = head;
  item.body = data;
  if (auto appended = store_.append(item); !appended) return refuse(appended.error());
  entry.number = next_number_++;
  has_refused_ = false;
  count(header.instance, entry, header.sequence_number);
  return true;
}

/// Its writer waits, if it is RELIABLE: for the next batch, or until something makes room.
bool TopicKeeper::refuse(const Error& why) {
  if (why.code() == Errc::would_block)
    was_full_ = true;
  else if (!std::exchange(has_refused_, true))
    say_(fmt::format("topic '{}': no room for another sample ({}); RELIABLE writers wait", topic_.key.topic,
                     why.text()));
  return false;
}

void TopicKeeper::count(std::uint64_t instance, const KeptHistory::Entry& entry,
                        std::uint64_t number_at_writer) {
  Writer& writer = writers_[entry.writer];
  writer.newest = entry.number;
  writer.newest_seen = number_at_writer;
  ++writer.kept_count;
  history_.add(instance, entry, clock_.monotonic().count());
}

void TopicKeeper::dropped(const KeptHistory::Entry& entry) {
  Writer& writer = writers_[entry.writer];
  --writer.kept_count;
  if (writer.newest == entry.number) writer.newest_seen = 0;
  to_drop_.push_back(entry.number);
}

/// The sample says who writes its instance.
void TopicKeeper::show(std::uint32_t writer, const topics::SampleHeader& header) {
  writers_[writer].last_word_ns = std::max(writers_[writer].last_word_ns, header.source_timestamp_ns);
  if (header.kind == ChangeKind::coherent_end || !writers_[writer].is_here) return;
  if (!is_unregistration(header.kind)) return history_.writes(header.instance, writer);
  history_.unregistered(header.instance, writer, clock_.monotonic().count());
  if (const std::uint64_t item = claims_.remove(header.instance, writer); item != 0) claims_end({item});
}

// The batch.

/// A writer's samples up to `seen` must not be kept again after a restart. Its newest kept sample says that,
/// or else its record.
bool TopicKeeper::needs_record(const Writer& writer) const {
  if (writer.guid == topics::Guid()) return false;  // it is forgotten
  if (writer.is_deleted && writer.kept_count == 0 && !remembers_all_) return false;
  if (writer.has_changed || writer.record == 0)
    return writer.is_here || writer.kept_count > 0 || (remembers_all_ && writer.seen.last() > 0);
  return writer.seen.last() > std::max(writer.record_seen, writer.newest_seen);
}

/// Ended claims come first: nothing tells again that they have ended.
Status TopicKeeper::complete_batch() {
  if (auto dropped = drop_all(ended_claims_); !dropped) return dropped;
  for (Writer& writer : writers_)
    if (needs_record(writer))
      if (auto recorded = record(writer); !recorded) return recorded;
  for (Writer& writer : writers_) forget_if_over(writer);
  // After the records: whatever part of this survives a crash, no sample comes twice.
  return drop_all(to_drop_);
}

void TopicKeeper::forget_if_over(Writer& writer) {
  if (!writer.is_deleted || writer.kept_count > 0 || writer.record == 0 || remembers_all_) return;
  to_drop_.push_back(writer.record);
  indices_.erase(writer.guid);
  const topics::Guid none;
  writer = Writer{.guid = none, .has_changed = false};
}

Status TopicKeeper::record(Writer& writer) {
  const auto head = encode_head(KeptWriter{writer.guid, writer.seen, {}});
  const auto body = qos::serialize(writer.qos);
  store::Item item;
  item.stream = stream_;
  item.number = next_number_;
  item.kind = item_writer;
  item.time_ns = clock_.realtime().count();
  item.head = head;
  item.body = body;
  if (auto appended = store_.append(item); !appended) return appended;
  if (writer.record != 0) to_drop_.push_back(writer.record);
  writer.record = next_number_++;
  writer.record_seen = writer.seen.last();
  writer.has_changed = false;
  return {};
}

Status TopicKeeper::drop_all(std::vector<std::uint64_t>& items) {
  while (!items.empty()) {
    if (auto dropped = store_.drop(stream_, items.back()); !dropped) return dropped;
    items.pop_back();
  }
  return {};
}

std::int64_t TopicKeeper::keep_time() {
  const std::int64_t now_ns = clock_.monotonic().count();
  std::int64_t due_ns = history_.clean(now_ns);
  const bool can_expire = std::any_of(writers_.begin(), writers_.end(), [](const Writer& writer) {
    return writer.kept_count > 0 && writer.qos.datawriter.lifespan.duration != qos::duration_infinite;
  });
  if (!can_expire) return due_ns;
  if (now_ns >= next_expiry_ns_) {
    const std::int64_t real_ns = clock_.realtime().count();
    history_.expire([&](const KeptHistory::Entry& entry) {
      return has_expired(entry.writer, entry.source_timestamp_ns, real_ns);
    });
    next_expiry_ns_ = now_ns + expiry_period_ns;
  }
  return std::min(due_ns, next_expiry_ns_);
}

bool TopicKeeper::has_expired(std::uint32_t writer, std::int64_t source_timestamp_ns,
                              std::int64_t now_ns) const {
  const std::int64_t lifespan_ns = writers_[writer].qos.datawriter.lifespan.duration.count();
  return lifespan_ns != qos::duration_infinite.count() && source_timestamp_ns <= now_ns - lifespan_ns;
}

Status TopicKeeper::read(std::uint64_t from, const OnSample& on_sample) const {
  const std::int64_t now_ns = clock_.realtime().count();
  Status decoded;
  const auto read = store_.read(
      stream_, from,
      [&](const store::Item& item) {
        if (item.kind != item_sample) return true;
        auto sample = decode_sample(item);
        if (!sample) {
          decoded = propagate(sample);
          return false;
        }
        const std::uint32_t writer = indices_.at(sample->origin.writer);
        if (has_expired(writer, sample->source_timestamp_ns, now_ns)) return true;
        return on_sample(item.number, *sample, writers_[writer].qos, item.body);
      },
      [](std::uint64_t) {});  // the store has said so when it was loaded
  return read ? decoded : read;
}

}  // namespace llamada::service
