#include "follower.hpp"

#include <fmt/core.h>

#include "spec_only_with.hpp"

namespace llamada::service {

Result<std::unique_ptr<Follower>> Follower::open(topics::Participant& participant,
                                                 const topics::EndpointInfo& reader, Topics& topics) {
  std::unique_ptr<Follower> follower(new Follower(reader, topics));
  topics::EndpointSpec hears;
  hears.topic = link_down;
  hears.type = link_type;
  hears.keeps = true;
  hears.qos = link_request();
  auto made = participant.create_reader(hears, *follower);
  if (!made) return propagate(made);
  follower->reader_ = std::move(*made);
  topics::EndpointSpec tells = spec_only_with(reader);
  tells.qos = link_offer();
  auto writer = participant.create_writer(tells, *follower);
  if (!writer) return propagate(writer);
  follower->writer_ = std::move(*writer);
  return follower;
}

// What the serving service says.

bool Follower::on_sample(const topics::EndpointId& writer, topics::Sample&& sample) {
  if (writer.participant != participant() || !failed_) return true;
  if (stage_ == Stage::tells) return false;  // all was told first
  other_writer_ = writer;
  auto record = decode_link(sample.data());
  if (!record) {
    failed_ = propagate(record);
    return true;
  }
  if (stage_ == Stage::follows) {
    if (!follow(*record)) return false;
  } else {
    failed_ = stage_ == Stage::hears_seen ? hear_seen(*record) : hear_all(*record);
  }
  const topics::Sample taken = std::move(sample);
  taken_ = taken.header().sequence_number;
  return true;
}

Status Follower::hear_seen(const LinkRecord& record) {
  if (record.kind == LinkKind::topic) {
    heard_ = record.kept_topic.key;
    others_[heard_].is_damaged = record.flag;
  } else if (record.kind == LinkKind::writer) {
    others_[heard_].seen[record.sample.origin.writer] = record.seen;
  } else if (record.kind == LinkKind::end) {
    stage_ = Stage::tells;
  }
  return {};
}

Status Follower::hear_all(const LinkRecord& record) {
  if (record.kind == LinkKind::topic) return begin_topic(record);
  if (record.kind == LinkKind::end) return end_alignment();
  if (!merger_) return failure(Errc::parse_error, "it names a topic that it has not told");
  const KeptSample& sample = record.sample;
  if (record.kind == LinkKind::writer)
    return merger_->set_writer(sample.origin.writer, record.seen, record.qos);
  if (merger_->has(sample.origin)) {
    merger_->confirm(sample.origin);
    return {};
  }
  return record.flag ? merger_->add(sample, record.body) : Status();
}

Status Follower::begin_topic(const LinkRecord& record) {
  if (auto ended = end_topic(); !ended) return ended;
  auto keeper = topics_.open(record.kept_topic);
  if (!keeper) return propagate(keeper);
  auto own = topics_.state_of(record.kept_topic);
  if (!own) return propagate(own);
  by_index_[record.topic_index] = *keeper;
  heard_ = record.kept_topic.key;
  merger_ = std::make_unique<Merger>(topics_.store(), std::move(*own));
  return {};
}

Status Follower::end_topic() {
  if (!merger_) return {};
  Merger::End end;
  end.drops_unconfirmed = true;
  end.drops_damaged = true;
  if (auto finished = merger_->finish(end); !finished) return finished;
  got_ += merger_->added_count();
  dropped_ += merger_->dropped_count();
  merger_.reset();
  return topics_.all().at(heard_)->reload();
}

Status Follower::end_alignment() {
  if (auto ended = end_topic(); !ended) return ended;
  for (const auto& [key, keeper] : topics_.all()) keeper->forget_claims();  // they are told next
  auto written = topics_.write();
  if (!written) return propagate(written);
  if (auto synced = topics_.store().sync(*written); !synced) return synced;
  stage_ = Stage::follows;
  others_.clear();
  news_ = fmt::format(
      "is aligned with the service of process {}: {} samples of {} topics, of which {} came from it", pid(),
      topics_.sample_count(), topics_.all().size(), got_);
  if (dropped_ > 0) news_ += fmt::format("; {} were dropped that it no longer keeps", dropped_);
  if (given_ > 0) news_ += fmt::format("; {} went to it", given_);
  return {};
}

/// False: not before the batch is written.
bool Follower::follow(const LinkRecord& record) {
  if (record.kind == LinkKind::topic) {
    auto keeper = topics_.open(record.kept_topic);
    if (keeper) {
      by_index_[record.topic_index] = *keeper;
    } else if (keeper.error().code() == Errc::would_block) {
      return false;
    } else {
      failed_ = propagate(keeper);
    }
    return true;
  }
  const auto found = by_index_.find(record.topic_index);
  if (found == by_index_.end()) {
    failed_ = failure(Errc::parse_error, "it names a topic that it has not told");
    return true;
  }
  TopicKeeper& keeper = *found->second;
  const topics::Guid& writer = record.sample.origin.writer;
  if (record.kind == LinkKind::came) keeper.writer_came(writer, record.number, record.qos);
  if (record.kind == LinkKind::writes) return keeper.writes(writer, record.number, record.sample.instance);
  if (record.kind == LinkKind::lapsed) keeper.writer_lapsed(writer);
  if (record.kind == LinkKind::gone) {
    keeper.writer_gone(writer, record.flag);
    ended_.push_back(writer);
  }
  if (record.kind != LinkKind::took) return true;
  topics::SampleHeader header;
  header.sequence_number = record.sample.origin.number;
  header.instance = record.sample.instance;
  header.source_timestamp_ns = record.sample.source_timestamp_ns;
  header.kind = static_cast<topics::ChangeKind>(record.number);
  return keeper.take(writer, header, record.body, !record.flag);
}

// What this one does.

Status Follower::work() {
  if (!failed_) return failed_;
  if (stage_ == Stage::joins && is_heard_) {
    LinkRecord join;
    join.kind = LinkKind::join;
    join.number = link_version;
    if (auto sent = send(*writer_, encode(join)); !sent) return sent;
    stage_ = Stage::hears_seen;
  }
  if (stage_ == Stage::tells) {
    if (!sender_)
      if (auto begun = begin_telling(); !begun) return begun;
    auto told = sender_->work(*writer_);
    if (!told) return propagate(told);
    if (*told) {
      given_ = sender_->body_count();
      sender_.reset();
      stage_ = Stage::hears_all;
    }
  }
  return commit();
}

Status Follower::begin_telling() {
  if (auto remembered = topics_.remember_all(); !remembered) return remembered;
  auto states = topics_.states();
  if (!states) return propagate(states);
  std::vector<StateSender::Topic> all;
  for (KeptState& state : *states) all.push_back({static_cast<std::uint32_t>(all.size()), std::move(state)});
  sender_.emplace(topics_.store(), std::move(all), [this](const KeptState& state, const KeptSample& sample) {
    const Other& other = others_[state.topic.key];
    const auto writer = other.seen.find(sample.origin.writer);
    const bool is_seen = writer != other.seen.end() && writer->second.has(sample.origin.number);
    return is_seen && !other.is_damaged ? StateSender::Data::without_body : StateSender::Data::with_body;
  });
  return {};
}

/// All that was taken is kept, and the serving service is told so.
Status Follower::commit() {
  if (stage_ == Stage::follows) {
    auto written = topics_.write();
    if (!written) return propagate(written);
    if (auto synced = topics_.store().sync(*written); !synced) return synced;
  }
  if (other_writer_) reader_->acknowledge(*other_writer_, taken_);
  return {};
}

Status Follower::abandon() {
  Status ended;
  if (merger_) {
    ended = merger_->stop();
    if (auto reloaded = topics_.all().at(heard_)->reload(); !reloaded) ended = reloaded;
    merger_.reset();
  }
  for (const auto& [key, keeper] : topics_.all()) keeper->all_gone();
  return ended;
}

}  // namespace llamada::service
