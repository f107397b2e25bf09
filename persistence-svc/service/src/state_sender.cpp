#include "state_sender.hpp"

namespace llamada::service {

Status send(topics::WriterEndpoint& writer, std::span<const std::byte> message) {
  auto published = writer.publish(message, topics::SampleHeader{});
  return published ? Status() : propagate(published);
}

Result<bool> StateSender::work(topics::WriterEndpoint& writer) {
  while (topic_ <= topics_.size()) {
    Status sent;
    if (topic_ == topics_.size())
      sent = send(writer, encode(LinkRecord{}));  // the end
    else
      sent = send_topic(writer);
    if (!sent && sent.error().code() == Errc::would_block) return false;
    if (!sent) return propagate(sent);
    ++topic_;
    item_ = 0;
  }
  return true;
}

Status StateSender::send_topic(topics::WriterEndpoint& writer) {
  const Topic& topic = topics_[topic_];
  const std::size_t writer_count = topic.state.writers.size();
  while (item_ < 1 + writer_count + topic.state.items.size()) {
    LinkRecord record;
    record.topic_index = topic.index;
    Status sent;
    if (item_ == 0) {
      guids_.clear();
      for (const auto& [guid, known] : topic.state.writers) guids_.push_back(guid);
      record.kind = LinkKind::topic;
      record.kept_topic = topic.state.topic;
      record.flag = topic.state.is_damaged();
      sent = send(writer, encode(record));
    } else if (item_ <= writer_count) {
      const auto& known = topic.state.writers.at(guids_[item_ - 1]);
      record.kind = LinkKind::writer;
      record.sample.origin.writer = guids_[item_ - 1];
      record.seen = known.seen;
      record.qos = known.qos;
      sent = send(writer, encode(record));
    } else {
      sent = send_item(writer, topic, topic.state.items[item_ - 1 - writer_count]);
    }
    if (!sent) return sent;
    ++item_;
  }
  return {};
}

Status StateSender::send_item(topics::WriterEndpoint& writer, const Topic& topic, const KeptItem& item) {
  const Data data = choose_(topic.state, item.sample);
  if (data == Data::nothing) return {};
  LinkRecord record;
  record.kind = LinkKind::sample;
  record.topic_index = topic.index;
  record.sample = item.sample;
  if (data == Data::without_body) return send(writer, encode(record));
  record.flag = true;
  std::vector<std::byte> message;
  auto read = read_item(store_, topic.state.stream, item.number, [&](const store::Item& found) {
    record.body = found.body;
    message = encode(record);
  });
  if (!read) return read;
  if (message.empty()) return {};  // it has been damaged since
  auto sent = send(writer, message);
  if (sent) ++body_count_;
  return sent;
}

}  // namespace llamada::service
