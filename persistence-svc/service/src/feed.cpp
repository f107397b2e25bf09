#include "feed.hpp"

namespace llamada::service {

void Feed::set_active(bool active) {
  is_active_ = active;
  if (!active) take();
}

std::uint32_t Feed::index_of(const TopicKeeper& keeper) {
  const auto [place, is_new] = indices_.try_emplace(&keeper, static_cast<std::uint32_t>(indices_.size()));
  if (is_new && is_active_) {
    LinkRecord record;
    record.kind = LinkKind::topic;
    record.topic_index = place->second;
    record.kept_topic = keeper.topic();
    add(record);
  }
  return place->second;
}

void Feed::add(const LinkRecord& record) {
  messages_.push_back(encode(record));
  bytes_ += messages_.back().size();
}

LinkRecord Feed::record_of(LinkKind kind, const TopicKeeper& keeper, const topics::Guid& writer) {
  LinkRecord record;
  record.kind = kind;
  record.topic_index = index_of(keeper);
  record.sample.origin.writer = writer;
  return record;
}

void Feed::took(const TopicKeeper& keeper, const topics::Guid& writer, const topics::SampleHeader& header,
                std::span<const std::byte> data, bool heard) {
  if (!is_active_) return;
  LinkRecord record = record_of(LinkKind::took, keeper, writer);
  record.number = static_cast<std::uint64_t>(header.kind);
  record.flag = !heard;
  record.sample.origin.number = header.sequence_number;
  record.sample.instance = header.instance;
  record.sample.source_timestamp_ns = header.source_timestamp_ns;
  record.body = data;
  add(record);
}

void Feed::came(const TopicKeeper& keeper, const topics::Guid& writer, std::uint64_t participant,
                const qos::EndpointQos& qos) {
  if (!is_active_) return;
  LinkRecord record = record_of(LinkKind::came, keeper, writer);
  record.number = participant;
  record.qos = qos;
  add(record);
}

void Feed::gone(const TopicKeeper& keeper, const topics::Guid& writer, bool died) {
  if (!is_active_) return;
  LinkRecord record = record_of(LinkKind::gone, keeper, writer);
  record.flag = died;
  add(record);
}

void Feed::lapsed(const TopicKeeper& keeper, const topics::Guid& writer) {
  if (is_active_) add(record_of(LinkKind::lapsed, keeper, writer));
}

}  // namespace llamada::service
