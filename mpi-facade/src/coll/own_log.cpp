#include "coll/own_log.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "llamada/base/check.hpp"
#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "replay/reopened_log.hpp"

namespace llamada::mpi::coll {

Status OwnLog::open(log::ArenaWriter& arena, Options options) {
  key_ = options.key;
  log_options_.retention = options.keep_all ? log::Retention::keep_all : log::Retention::recycle;
  log_options_.live_bytes_max = options.bound_bytes;
  log_options_.readers_expected = static_cast<std::uint32_t>(options.reader_count);
  const bool has_past = arena.find_log(options.key).has_value();
  auto writer = log::LogWriter::open(arena, options.key, log_options_);
  if (!writer) return propagate(writer);
  writer_ = std::move(*writer);
  kept_ = KeptPayloads(options.keep_all);
  may_publish_ = std::move(options.may_publish);
  if (has_past || (may_publish_ && !may_publish_()))
    predecessor_ = log::LogReader::open(arena.reading(), writer_.index());
  is_open_ = true;
  return {};
}

Status OwnLog::take_over(log::ArenaWriter& arena, std::function<bool()> may_publish) {
  if (!is_open_) return {};
  auto reopened = replay::reopen(arena, writer_, key_, log_options_);
  if (!reopened) return propagate(reopened);
  writer_ = std::move(reopened->writer);
  predecessor_ = reopened->since;
  may_publish_ = std::move(may_publish);
  return {};
}

std::optional<log::Record> OwnLog::predecessors_record() {
  if (!predecessor_) return std::nullopt;
  auto record = predecessor_->peek();
  if (!record && (!may_publish_ || may_publish_())) predecessor_.reset();
  return record;
}

bool OwnLog::publish_again(const RecordHead& head, std::span<const std::byte> payload,
                           std::uint64_t bytes_given) {
  if (predecessors_record() || predecessor_) return false;
  if (kept_.reserve_again(writer_, payload, reservation_, [] {}) != Again::reserved) return false;
  commit(head, bytes_given);
  return true;
}

std::optional<std::span<std::byte>> OwnLog::room(std::size_t bytes, log::LogWriter::Filling filling,
                                                 std::size_t run_bytes,
                                                 const std::function<void(const Error&)>& refused) {
  if (!is_open_ || predecessors_record()) {
    again_.resize(bytes);
    return std::span(again_);
  }
  if (predecessor_) return std::nullopt;
  if (auto reserved = writer_.reserve(bytes, reservation_, filling, run_bytes); !reserved) {
    refused(reserved.error());
    return std::nullopt;
  }
  return reservation_.payload();
}

void OwnLog::fill(std::span<std::byte> room, std::span<const std::byte> payload) {
  if (!reservation_) return copy_bytes_out(room.data(), payload.data(), payload.size());
  writer_.fill(reservation_, payload);
  kept_.add(payload, room);
}

std::size_t OwnLog::commit(const RecordHead& head, std::uint64_t bytes_given) {
  if (const auto extra = reservation_.extra(); !extra.empty())
    std::memcpy(extra.data(), &bytes_given, sizeof(bytes_given));
  const std::size_t bytes = reservation_.payload().size();
  writer_.commit(std::move(reservation_), head.record_kind(), head.flags(), head.label());
  return bytes;
}

namespace {

std::string described(const RecordHead& head, std::size_t bytes) {
  const std::string to =
      head.audience == everybody ? std::string("everybody") : fmt::format("member {}", head.audience);
  return fmt::format("{} number {}, {} for {}, {} bytes", to_string(head.kind), head.ordinal,
                     to_string(head.piece), to, bytes);
}

}  // namespace

std::string OwnLog::compare(const RecordHead& head) {
  if (!is_open_) return {};
  const auto record = predecessors_record();
  LLAMADA_CHECK(record.has_value());
  const auto& before = record->payload;
  const bool is_as_long = head.is_of(*record) && before.size() == again_.size();
  const auto difference =
      is_as_long ? std::mismatch(again_.begin(), again_.end(), before.begin()).first : again_.begin();
  if (is_as_long && difference == again_.end()) {
    predecessor_->advance();
    LLAMADA_CRASH_POINT("collective:compared");
    return {};
  }
  const std::string first = described(RecordHead::of(*record), before.size());
  if (is_as_long)
    return fmt::format("what this run contributes to {} differs from the first run at byte {}", first,
                       difference - again_.begin());
  return fmt::format("the first run contributed to {}; this run to {}", first,
                     described(head, again_.size()));
}

std::optional<log::Record> OwnLog::left_over() { return predecessor_ ? predecessor_->peek() : std::nullopt; }

void OwnLog::stop_keeping() {
  if (!is_open_) return;
  kept_ = KeptPayloads(false);
  writer_.set_retention(log::Retention::recycle);
}

void OwnLog::discard() {
  reservation_.drop();
  writer_.discard();
}

}  // namespace llamada::mpi::coll
