#include "kept_copy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace llamada::replication {

KeptCopy::KeptCopy(log::ArenaWriter& arena, const LogName& name, log::LogWriter copy,
                   std::uint64_t window_bytes)
    : arena_(arena), name_(name), window_bytes_(window_bytes), copy_(std::move(copy)) {}

Follow KeptCopy::follow(Feed& feed) {
  credit_ = std::max({credit_now(), credit_, received_});
  feed.from = copy_.published() + 1;
  feed.has_begun = false;
  feed.received = received_;
  feed.credit = credit_;
  return {.writer = name_.writer,
          .key_high = name_.key.high,
          .key_low = name_.key.low,
          .from = feed.from,
          .credit_bytes = credit_ - received_};
}

KeptCopy::Outcome KeptCopy::apply(RecordsReader records) {
  const std::uint64_t received_before = received_;
  Outcome outcome = Outcome::applied;
  for (std::uint64_t number = records.number(); outcome == Outcome::applied; ++number) {
    const auto record = records.next();
    if (!record) break;
    outcome = apply(number, *record);
  }
  note_chunk(received_before);
  return outcome;
}

KeptCopy::Outcome KeptCopy::apply(std::uint64_t number, const WireRecord& record) {
  const std::uint64_t published = copy_.published();
  if (number <= published) return Outcome::applied;
  // The pieces of the record before it are still under way.
  if (open_ && number == published + 2) return Outcome::not_now;
  if (number != published + 1) return Outcome::wrong;
  if (record.form == Form::begins) return begin(record);
  // One holder has begun it in pieces, and another one has it whole.
  open_.drop();
  if (!publish(number, record)) return Outcome::no_room;
  received_ += record_cost(record.form, record.size_bytes);
  return Outcome::applied;
}

Status KeptCopy::publish(std::uint64_t number, const WireRecord& record) {
  if (record.form == Form::absent)
    return copy_.publish_absent(record.kind, record.flags, record.label, {number, record.size_bytes});
  if (record.extra.empty()) return copy_.publish(record.kind, record.flags, record.label, record.payload);
  log::Reservation room;
  if (Status reserved = copy_.reserve(record.payload.size(), room); !reserved) return reserved;
  std::memcpy(room.payload().data(), record.payload.data(), record.payload.size());
  std::memcpy(room.extra().data(), record.extra.data(), record.extra.size());
  copy_.commit(std::move(room), record.kind, record.flags, record.label);
  return {};
}

KeptCopy::Outcome KeptCopy::begin(const WireRecord& record) {
  // By another holder, which goes on with it as well; or it is the same frame once more.
  if (open_) return record.size_bytes == begun_.size_bytes ? Outcome::applied : Outcome::wrong;
  if (!copy_.reserve(record.size_bytes, open_)) return Outcome::no_room;
  std::memcpy(open_.extra().data(), record.extra.data(), record.extra.size());
  begun_ = record;
  begun_.extra = {};
  filled_ = {};
  return Outcome::applied;
}

KeptCopy::Outcome KeptCopy::apply(const PieceBody& piece) {
  const std::uint64_t published = copy_.published();
  if (piece.piece.record <= published) return Outcome::applied;
  // Its record's beginning was sent to an older FOLLOW, and dropped. It begins again.
  if (!open_ || piece.piece.record != published + 1) return Outcome::applied;
  if (piece.piece.size_bytes != begun_.size_bytes) return Outcome::wrong;
  // Holders cut a payload at places of their own.
  std::memcpy(open_.payload().data() + piece.piece.offset, piece.bytes.data(), piece.bytes.size());
  filled_.add(piece.piece.offset, piece.piece.offset + piece.bytes.size());
  if (filled_.count() < begun_.size_bytes) return Outcome::applied;
  const std::uint64_t received_before = received_;
  copy_.commit(std::move(open_), begun_.kind, begun_.flags, begun_.label);
  received_ += record_cost(Form::begins, begun_.size_bytes);
  note_chunk(received_before);
  return Outcome::applied;
}

/// Remembers where the chunk in which the copy ends begins, or a little before.
void KeptCopy::note_chunk(std::uint64_t received_before) {
  if (copy_.published() == 0) return;
  const auto end = copy_.position();
  if (!end || begins_.size() >= begins_max) return;
  if (begins_.empty() || begins_.back().ordinal < end->ordinal)
    begins_.push_back({end->ordinal, received_before});
}

/// What readers have passed no longer counts. A reader lets go of a chunk only when it enters the next one,
/// so one more record may always come where there is but one chunk.
std::uint64_t KeptCopy::credit_now() {
  copy_.recycle();
  if (begins_.empty()) return received_ + window_bytes_;
  const auto& entry = arena_.log(copy_.index());
  const auto first = log::read_chunk(arena_.own(), entry.first_chunk.load(std::memory_order_relaxed));
  if (!first) return credit_;
  while (begins_.size() > 1 && begins_[1].ordinal <= first->ordinal) begins_.pop_front();
  const std::uint64_t bound = begins_.front().received + window_bytes_;
  const bool is_only_chunk = first->ordinal >= begins_.back().ordinal;
  return is_only_chunk ? std::max(bound, received_ + 1) : bound;
}

std::optional<Credit> KeptCopy::credit(Feed& feed) {
  const std::uint64_t now = credit_now();
  if (now <= feed.credit || (now - feed.credit < window_bytes_ / 4 && feed.credit > received_))
    return std::nullopt;
  credit_ = std::max(credit_, now);
  feed.credit = now;
  return Credit{now - feed.received};
}

}  // namespace llamada::replication
