#include "llamada/topics/domain_participant.hpp"

#include <algorithm>
#include <cstring>

#include "endpoint.hpp"

namespace llamada::topics {

DomainParticipant::DomainParticipant(Transport& transport, const Clock& clock)
    : transport_(transport), clock_(clock) {}

DomainParticipant::~DomainParticipant() { LLAMADA_CHECK(writers_.empty() && readers_.empty()); }

std::uint32_t DomainParticipant::own_id() const { return transport_.peer(transport_.slot()).id; }

Result<std::unique_ptr<DataWriter>> DomainParticipant::create_writer(std::string topic, std::string type,
                                                                     const qos::DataWriterQos& qos) {
  if (auto polled = poll(); !polled) return propagate(polled);
  std::unique_ptr<DataWriter> writer(new DataWriter(*this, std::move(topic), std::move(type), qos));
  if (auto opened = writer->open(); !opened) return propagate(opened);
  introduce(*writer);
  transport_.wake_all();
  return writer;
}

Result<std::unique_ptr<DataReader>> DomainParticipant::create_reader(std::string topic, std::string type,
                                                                     const qos::DataReaderQos& qos) {
  if (auto polled = poll(); !polled) return propagate(polled);
  std::unique_ptr<DataReader> reader(new DataReader(*this, std::move(topic), std::move(type), qos));
  if (auto opened = reader->open(); !opened) return propagate(opened);
  introduce(*reader);
  transport_.wake_all();
  return reader;
}

/// Shows a new writer the readers that were there before it.
void DomainParticipant::introduce(DataWriter& writer) {
  for (const PeerView& view : peers_)
    for (std::uint32_t index = 0; index < view.endpoints_scanned; ++index)
      writer.consider(view.arena.endpoint(index));
  writers_.push_back(&writer);
}

void DomainParticipant::introduce(DataReader& reader) {
  readers_.push_back(&reader);
  for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
    const PeerView& view = peers_[slot];
    for (std::uint32_t index = 0; index < view.endpoints_scanned; ++index) {
      if (auto status = reader.consider(slot, view.id, view.arena, view.arena.endpoint(index)); !status)
        failed_ = status;
    }
  }
}

Status DomainParticipant::poll() {
  if (!failed_) return failed_;
  if (auto changed = transport_.poll(); !changed) return propagate(changed);
  peers_.resize(transport_.slot_count());
  for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
    PeerView& view = peers_[slot];
    const Transport::Peer peer = transport_.peer(slot);
    if (peer.id != view.id) {
      for (DataWriter* writer : writers_) writer->drop_gone(slot, view.id);
      for (DataReader* reader : readers_) reader->mark_gone(slot, view.id);
      view = PeerView{.id = peer.id, .arena = peer.arena};
    }
    if (view.id != 0) look_at(slot, view);
  }
  for (DataWriter* writer : writers_) writer->drop_deleted();
  for (DataReader* reader : readers_) reader->drop_finished();
  if (!holds_old_arenas()) transport_.release_replaced();
  return failed_;
}

bool DomainParticipant::holds_old_arenas() const {
  return std::any_of(readers_.begin(), readers_.end(),
                     [](auto* reader) { return reader->holds_old_arenas(); });
}

void DomainParticipant::look_at(std::uint32_t slot, PeerView& view) {
  for (const auto count = view.arena.endpoint_count(); view.endpoints_scanned < count;
       ++view.endpoints_scanned) {
    const EndpointEntry& entry = view.arena.endpoint(view.endpoints_scanned);
    for (DataWriter* writer : writers_) writer->consider(entry);
    for (DataReader* reader : readers_) {
      if (auto status = reader->consider(slot, view.id, view.arena, entry); !status) failed_ = status;
    }
  }
  for (const auto count = view.arena.cursor_count(); view.cursors_scanned < count; ++view.cursors_scanned) {
    const CursorEntry& cursor = view.arena.cursor(view.cursors_scanned);
    if (cursor.writer != transport_.slot() || cursor.endpoint >= view.arena.endpoint_count()) continue;
    for (DataWriter* writer : writers_) {
      if (!writer->is_for(cursor)) continue;
      auto matched = writer->match(slot, view.id, cursor, view.arena.endpoint(cursor.endpoint));
      if (!matched) failed_ = matched;
    }
  }
  look_at_grants(slot, view);
}

void DomainParticipant::look_at_grants(std::uint32_t slot, PeerView& view) {
  if (!view.has_grants) {
    const auto index = find_log(view.arena, {detail::grant_log_key, view.id}, view.logs_scanned);
    if (!index) return;
    view.grants = LogReader::open(view.arena, *index);
    view.has_grants = true;
  }
  for (auto record = view.grants.peek(); record; record = view.grants.peek()) {
    detail::Grant grant;
    if (record->kind == detail::kind_grant && record->payload.size() == sizeof(grant)) {
      std::memcpy(&grant, record->payload.data(), sizeof(grant));
      if (grant.reader_slot == transport_.slot() && grant.reader_id == own_id())
        for (DataReader* reader : readers_) reader->start(slot, grant.cursor_index, grant.position);
    }
    view.grants.advance();
  }
}

Status DomainParticipant::grant(std::uint32_t reader_slot, std::uint32_t reader_id,
                                std::uint32_t cursor_index, const LogPosition& position) {
  if (!has_grants_) {
    auto log = LogWriter::create(transport_.arena(), {detail::grant_log_key, own_id()},
                                 {.retention = Retention::keep_all});
    if (!log) return propagate(log);
    grants_ = std::move(*log);
    has_grants_ = true;
  }
  const detail::Grant grant{reader_slot, reader_id, cursor_index, 0, position};
  return grants_.publish(detail::kind_grant, 0, 0, std::as_bytes(std::span(&grant, 1)));
}

Status DomainParticipant::wait(const std::function<bool()>& condition, std::chrono::nanoseconds at_most) {
  const auto begin = clock_.monotonic();
  for (;;) {
    if (auto polled = poll(); !polled) return polled;
    if (condition()) return {};
    const auto elapsed = clock_.monotonic() - begin;
    if (elapsed >= at_most)
      return failure(Errc::timeout, "nothing happened within {} ms", at_most.count() / 1000000);
    // What poll() finds wakes us, too: who adds an endpoint, a cursor or a grant wakes those whom it
    // concerns.
    const auto looks = [&] { return !poll() || condition(); };
    auto waited = transport_.wait(
        looks, std::min<std::chrono::nanoseconds>(at_most - elapsed, std::chrono::milliseconds(100)));
    if (!waited) return waited;
  }
}

}  // namespace llamada::topics
