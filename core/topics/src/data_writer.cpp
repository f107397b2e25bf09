#include "llamada/topics/data_writer.hpp"

#include <algorithm>

#include "endpoint.hpp"

namespace llamada::topics {
namespace {

/// Errc::unsupported for what this writer could not keep.
Status check_possible(const qos::DataWriterQos& qos) {
  if (qos.reliability.kind == qos::ReliabilityKind::best_effort)
    return failure(Errc::unsupported,
                   "RELIABILITY BEST_EFFORT of a DataWriter is not built: choose RELIABLE, which "
                   "satisfies BEST_EFFORT readers, too");
  if (qos.history.kind == qos::HistoryKind::keep_last)
    return failure(Errc::unsupported,
                   "HISTORY KEEP_LAST of a DataWriter is not built: choose KEEP_ALL, and KEEP_LAST "
                   "for the readers that want the newest samples only");
  const auto& limits = qos.resource_limits;
  if (limits.max_instances != qos::length_unlimited ||
      limits.max_samples_per_instance != qos::length_unlimited)
    return failure(Errc::unsupported,
                   "RESOURCE_LIMITS max_instances and max_samples_per_instance of a DataWriter are "
                   "not built: choose LENGTH_UNLIMITED");
  if (limits.max_samples != qos::length_unlimited && qos.durability.kind == qos::DurabilityKind::volatile_)
    return failure(Errc::unsupported,
                   "RESOURCE_LIMITS max_samples of a VOLATILE DataWriter is not built: its history "
                   "is bounded in bytes; choose LENGTH_UNLIMITED or TRANSIENT_LOCAL");
  return {};
}

}  // namespace

DataWriter::DataWriter(DomainParticipant& participant, std::string topic, std::string type,
                       const qos::DataWriterQos& qos)
    : participant_(participant), topic_(std::move(topic)), type_(std::move(type)), qos_(qos) {}

DataWriter::~DataWriter() {
  std::erase(participant_.writers_, this);
  if (!opened_) return;
  // Release: what was committed can be seen by who sees this. Pairs with detail::is_alive().
  participant_.transport().arena().endpoint(endpoint_).alive.store(0, std::memory_order_release);
  participant_.transport().wake_all();
}

Status DataWriter::open() {
  if (auto consistent = qos::check_consistent(qos_); !consistent) return consistent;
  if (auto enforced = qos::check_enforced(qos_); !enforced) return enforced;
  if (auto possible = check_possible(qos_); !possible) return possible;
  ArenaWriter& arena = participant_.transport().arena();
  endpoint_ = arena.reading().endpoint_count();
  key_ = {detail::sample_log_key, std::uint64_t{participant_.own_id()} << 32 | endpoint_};
  const bool keeps = qos_.durability.kind != qos::DurabilityKind::volatile_;
  LogOptions options{.retention = keeps ? Retention::keep_all : Retention::recycle, .endpoint = endpoint_};
  options.readers_expected = 0;  // what nobody is there to read is not kept
  auto log = LogWriter::create(arena, key_, options);
  if (!log) return propagate(log);
  log_ = std::move(*log);
  auto announced = detail::announce(arena, EndpointKind::writer, log_.index(), topic_, type_, qos_);
  if (!announced) return propagate(announced);
  opened_ = true;
  return {};
}

bool DataWriter::is_for(const CursorEntry& cursor) const {
  return LogKey{cursor.key_high, cursor.key_low} == key_;
}

/// Notes a reader of the topic that asks for more than is offered.
void DataWriter::consider(const EndpointEntry& reader) {
  if (reader.kind != static_cast<std::uint32_t>(EndpointKind::reader) || !detail::is_alive(reader)) return;
  if (detail::is_same_topic(reader, topic_, type_))
    detail::check_pair(qos_, detail::requested_by(reader), incompatible_);
}

Status DataWriter::match(std::uint32_t slot, std::uint32_t id, const CursorEntry& cursor,
                         const EndpointEntry& reader) {
  if (!detail::is_alive(reader)) return {};
  auto position = log_.position();
  if (!position) return propagate(position);
  // From here on nothing that the reader has not consumed is reused; then it is told where it begins.
  log_.add_reader(&cursor);
  matches_.push_back({slot, id, &cursor, &reader});
  Transport& transport = participant_.transport();
  const auto cursor_index = static_cast<std::uint32_t>(&cursor - &transport.peer(slot).arena.cursor(0));
  auto granted = participant_.grant(slot, id, cursor_index, *position);
  transport.wake(slot);
  return granted;
}

void DataWriter::drop_gone(std::uint32_t slot, std::uint32_t id) {
  std::erase_if(matches_, [&](const Match& match) {
    if (match.slot != slot || match.id != id) return false;
    log_.remove_reader(match.cursor);
    return true;
  });
}

void DataWriter::drop_deleted() {
  std::erase_if(matches_, [&](const Match& match) {
    if (detail::is_alive(*match.endpoint)) return false;
    log_.remove_reader(match.cursor);
    return true;
  });
}

Result<Reservation> DataWriter::loan(std::size_t size_bytes) {
  const auto max_samples = qos_.resource_limits.max_samples;
  if (max_samples != qos::length_unlimited && log_.published() >= static_cast<std::uint64_t>(max_samples))
    return failure(Errc::out_of_resources,
                   "the DataWriter of '{}' keeps {} samples: RESOURCE_LIMITS max_samples", topic_,
                   max_samples);
  const Clock& clock = participant_.clock();
  const auto begin = clock.monotonic();
  const auto longest = qos_.reliability.max_blocking_time;
  for (;;) {
    if (auto polled = participant_.poll(); !polled) return propagate(polled);
    auto room = log_.reserve(size_bytes);
    if (room || room.error().code() != Errc::would_block) return room;
    const auto elapsed = clock.monotonic() - begin;
    if (elapsed >= longest)
      return failure(Errc::timeout,
                     "no room to write to '{}' within max_blocking_time ({}): a reader is behind", topic_,
                     qos::to_string(longest));
    auto freed = [&, before = log_.live_bytes()] {
      log_.recycle();
      return log_.live_bytes() < before;
    };
    auto waited = participant_.transport().wait(
        freed, std::min<std::chrono::nanoseconds>(longest - elapsed, std::chrono::milliseconds(100)));
    if (!waited) return propagate(waited);
  }
}

void DataWriter::write(Reservation&& loan, std::uint64_t instance) {
  log_.commit(std::move(loan), kind_data, 0, instance);
  for (const Match& match : matches_) participant_.transport().wake(match.slot);
}

Status DataWriter::write(std::span<const std::byte> sample, std::uint64_t instance) {
  auto room = loan(sample.size());
  if (!room) return propagate(room);
  std::copy(sample.begin(), sample.end(), room->payload().begin());
  write(std::move(*room), instance);
  return {};
}

}  // namespace llamada::topics
