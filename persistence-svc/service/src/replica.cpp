#include "replica.hpp"

#include <fmt/core.h>

#include "spec_only_with.hpp"

namespace llamada::service {
namespace {

/// Whoever has not gone on for so long has to join again, so that it holds nobody.
constexpr std::int64_t patience_ns = 10'000'000'000;

}  // namespace

Result<std::unique_ptr<Replica>> Replica::open(topics::Participant& participant,
                                               const topics::EndpointInfo& reader, Topics& topics, Feed& feed,
                                               const Clock& clock) {
  std::unique_ptr<Replica> replica(new Replica(reader, topics, feed, clock));
  topics::EndpointSpec spec = spec_only_with(reader);
  spec.qos = link_offer();
  auto writer = participant.create_writer(spec, *replica);
  if (!writer) return propagate(writer);
  replica->writer_ = std::move(*writer);
  replica->progress();
  return replica;
}

// What the other one says.

void Replica::join(const topics::EndpointId& writer, const Status& possible) {
  other_writer_ = writer;
  failed_ = possible;
  stage_ = Stage::joined;
  progress();
}

bool Replica::take(std::span<const std::byte> message) {
  if (stage_ != Stage::listens) return !failed_;
  progress();
  auto record = decode_link(message);
  failed_ = record ? take_record(*record) : propagate(record);
  return true;
}

Status Replica::take_record(const LinkRecord& record) {
  if (record.kind == LinkKind::topic) return take_topic(record);
  if (record.kind == LinkKind::end) {
    stage_ = Stage::heard;
    return {};
  }
  const auto found = by_index_.find(record.topic_index);
  if (found == by_index_.end()) return failure(Errc::parse_error, "it names a topic that it has not told");
  Compared& compared = *found->second;
  if (record.kind == LinkKind::sample) return take_sample(compared, record);
  compared.other.writers[record.sample.origin.writer] = {record.seen, record.qos, 0};
  return {};
}

Status Replica::take_topic(const LinkRecord& record) {
  const TopicKey& key = record.kept_topic.key;
  auto place = compared_.find(key);
  if (place == compared_.end()) {
    auto keeper = topics_.open(record.kept_topic);
    if (!keeper) return propagate(keeper);
    auto own = topics_.state_of(record.kept_topic);
    if (!own) return propagate(own);
    place = compared_.emplace(key, Compared{}).first;
    place->second.keeper = *keeper;
    place->second.merger = std::make_unique<Merger>(topics_.store(), std::move(*own));
  }
  place->second.other.topic = record.kept_topic;
  place->second.other.lost_batches = record.flag;
  by_index_[record.topic_index] = &place->second;
  return {};
}

Status Replica::take_sample(Compared& compared, const LinkRecord& record) {
  compared.other.items.push_back({record.sample, 0});
  Merger& merger = *compared.merger;
  if (!record.flag || merger.has(record.sample.origin) ||
      !is_missing(topics_.store(), merger.own(), record.sample))
    return {};
  const topics::Guid& writer = record.sample.origin.writer;
  if (auto set = merger.set_writer_of_both(writer, compared.other.writers[writer]); !set) return set;
  KeptSample sample = record.sample;
  sample.is_merged = true;
  if (auto added = merger.add(sample, record.body); !added) return added;
  ++got_;
  return {};
}

// The steps.

Status Replica::work(const std::vector<std::unique_ptr<Intake>>& writers) {
  if (!failed_) return failed_;
  if (stage_ == Stage::joined && is_matched_)
    if (auto begun = begin(); !begun) return begun;
  if (stage_ == Stage::heard)
    if (auto merged = merge(); !merged) return merged;
  if (stage_ == Stage::tells_seen || stage_ == Stage::tells_all) {
    auto told = sender_->work(*writer_);
    if (!told) return propagate(told);
    if (*told) {
      progress();
      if (stage_ == Stage::tells_seen) {
        stage_ = Stage::listens;
      } else {
        stage_ = Stage::follows;
        tell_present(writers);
      }
    }
  }
  if (stage_ == Stage::follows)
    if (auto flushed = flush(); !flushed) return flushed;
  return check_patience();
}

/// The topics stand still from here on.
Status Replica::begin() {
  if (auto remembered = topics_.remember_all(); !remembered) return remembered;
  auto states = topics_.states();
  if (!states) return propagate(states);
  std::vector<StateSender::Topic> topics;
  for (KeptState& state : *states) {
    auto keeper = topics_.open(state.topic);
    if (!keeper) return propagate(keeper);
    Compared& compared = compared_[state.topic.key];
    compared.keeper = *keeper;
    compared.merger = std::make_unique<Merger>(topics_.store(), state);
    topics.push_back({feed_.index_of(**keeper), std::move(state)});
  }
  sender_.emplace(topics_.store(), std::move(topics),
                  [](const KeptState&, const KeptSample&) { return StateSender::Data::nothing; });
  stage_ = Stage::tells_seen;
  return {};
}

/// The other one has told all that it has.
Status Replica::merge() {
  for (auto& [key, compared] : compared_)
    if (auto merged = merge(compared); !merged) return merged;
  auto states = topics_.states();
  if (!states) return propagate(states);
  std::vector<StateSender::Topic> topics;
  for (KeptState& state : *states) {
    const auto found = compared_.find(state.topic.key);
    if (found == compared_.end()) return failure(Errc::not_found, "a topic has come meanwhile");
    topics.push_back({feed_.index_of(*found->second.keeper), std::move(state)});
  }
  // What the other one has told is looked up for each sample.
  std::map<TopicKey, std::map<topics::Guid, std::set<std::uint64_t>>> has;
  for (const auto& [key, compared] : compared_)
    for (const KeptItem& item : compared.other.items)
      has[key][item.sample.origin.writer].insert(item.sample.origin.number);
  sender_.emplace(topics_.store(), std::move(topics),
                  [has = std::move(has)](const KeptState& state, const KeptSample& sample) {
                    const auto topic = has.find(state.topic.key);
                    if (topic == has.end()) return StateSender::Data::with_body;
                    const auto writer = topic->second.find(sample.origin.writer);
                    const bool is_there =
                        writer != topic->second.end() && writer->second.contains(sample.origin.number);
                    return is_there ? StateSender::Data::without_body : StateSender::Data::with_body;
                  });
  stage_ = Stage::tells_all;
  return {};
}

Status Replica::merge(Compared& compared) {
  Merger& merger = *compared.merger;
  for (const auto& [guid, other] : compared.other.writers)
    if (auto set = merger.set_writer_of_both(guid, other); !set) return set;
  Merger::End end;
  end.drops_damaged = !compared.other.is_damaged() && !compared.other.topic.key.topic.empty();
  end.forgotten = forgotten(merger.own(), compared.other);
  auto finished = merger.finish(end);
  forgot_ += merger.dropped_count();
  // Also after an error the store has what was written.
  if (auto reloaded = compared.keeper->reload(); !reloaded) return reloaded;
  has_changed_ |= merger.added_count() + merger.dropped_count() > 0;
  compared.merger.reset();
  return finished;
}

Status Replica::abandon() {
  if (!compares()) return {};
  Status ended;
  for (auto& [key, compared] : compared_) {
    if (!compared.merger) continue;
    if (auto finished = compared.merger->stop(); !finished) ended = finished;
    if (auto reloaded = compared.keeper->reload(); !reloaded) ended = reloaded;
  }
  compared_.clear();
  stage_ = Stage::follows;
  return ended;
}

/// Who writes now, and which instances: the other one must not take them for nobody's.
void Replica::tell_present(const std::vector<std::unique_ptr<Intake>>& writers) {
  std::size_t sample_count = 0;
  for (const auto& intake : writers) {
    if (!intake->is_here()) continue;
    LinkRecord record = feed_.record_of(LinkKind::came, intake->keeper(), intake->info().guid);
    record.number = intake->info().id.participant;
    record.qos = intake->info().qos;
    messages_.push_back(encode(record));
  }
  for (const auto& each : compared_) {
    const TopicKeeper& keeper = *each.second.keeper;
    sample_count += keeper.sample_count();
    keeper.for_each_written(
        [&](std::uint64_t instance, const topics::Guid& writer, std::uint64_t participant) {
          LinkRecord record = feed_.record_of(LinkKind::writes, keeper, writer);
          record.number = participant;
          record.sample.instance = instance;
          messages_.push_back(encode(record));
        });
  }
  news_ = fmt::format("the service of process {} follows: it has got {} of {} samples", pid(),
                      sender_->body_count(), sample_count);
  if (got_ > 0) news_ += fmt::format("; {} samples came from it", got_);
  if (forgot_ > 0) news_ += fmt::format("; {} were dropped that it had forgotten", forgot_);
  compared_.clear();
  by_index_.clear();
  sender_.reset();
}

void Replica::publish(const Feed::Messages& messages) {
  if (has_all()) progress();
  messages_.insert(messages_.end(), messages.begin(), messages.end());
}

Status Replica::flush() {
  for (; !messages_.empty(); messages_.pop_front()) {
    auto sent = send(*writer_, messages_.front());
    if (!sent && sent.error().code() == Errc::would_block) return {};
    if (!sent) return sent;
    progress();
  }
  return {};
}

Status Replica::check_patience() {
  const bool waits = compares() || (follows() && !has_all());
  if (!waits) progress();
  if (clock_.monotonic().count() - progressed_ns_ < patience_ns) return {};
  return failure(Errc::timeout, "it has not answered for {} s", patience_ns / 1'000'000'000);
}

}  // namespace llamada::service
