#include "coll/direct.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "world/peer_memory.hpp"

namespace llamada::mpi::coll {

// ---- Introduction

void Introduction::begin() {
  channel_.begin(kind_);
  own_ = {bytes_, own_card()};
  processes_.assign(static_cast<std::size_t>(channel_.size()), 0);
}

bool Introduction::publish_card() {
  if (published_ > piece_) return true;
  const auto verdict = static_cast<std::byte>(all_reached_);
  const auto what = piece_ == 0 ? plain_bytes(own_) : std::span(&verdict, 1);
  if (!channel_.publish_whole(Piece(Content::card, piece_), everybody, what)) return false;
  ++published_;
  return true;
}

bool Introduction::look_at(int member) {
  const auto record =
      channel_.expect(member, Piece(Content::card, piece_), piece_ == 0 ? sizeof(Card) : 1, bytes_);
  if (!record) return false;
  if (piece_ == 0) {
    Card card;
    std::memcpy(&card, record->payload.data(), sizeof(card));
    all_reached_ = is_reached(card.process) && all_reached_;
    processes_[static_cast<std::size_t>(member)] = static_cast<int>(card.process.process);
  } else {
    all_reached_ = all_reached_ && record->payload[0] != std::byte{0};
  }
  channel_.next(member);
  return true;
}

bool Introduction::step() {
  for (; piece_ < 2; ++piece_, member_ = 0) {
    if (!publish_card()) return false;
    for (; member_ < channel_.size(); ++member_)
      if (member_ != channel_.self() && !look_at(member_)) return false;
  }
  channel_.set_processes(all_reached_ ? std::move(processes_) : std::vector<int>());
  return true;
}

// ---- the choice

void DirectIfPossible::begin() {
  if (channel_.is_introduced())
    choose();
  else
    introduction_.begin();
}

void DirectIfPossible::choose() {
  chosen_ = channel_.reaches_memory() ? direct_(channel_) : through_logs_(channel_);
  chosen_->begin();
}

bool DirectIfPossible::step() {
  if (!chosen_) {
    if (!introduction_.step()) return false;
    choose();
  }
  return chosen_->advance(channel_);
}

// ---- Partners

Partners::Partners(Channel& channel)
    : channel_(channel),
      heard_(static_cast<std::size_t>(channel.size())),
      offers_(static_cast<std::size_t>(channel.size())) {}

bool Partners::say(std::uint32_t step, std::span<const std::byte> what, int audience) {
  if (said_ > step) return true;
  if (!channel_.publish_whole(Piece(Content::step, step), audience, what)) return false;
  said_ = step + 1;
  return true;
}

bool Partners::has_said(int member, std::uint32_t step) {
  const auto index = static_cast<std::size_t>(member);
  for (; heard_[index] <= step; ++heard_[index]) {
    const std::size_t size = heard_[index] == 0 ? sizeof(Offer) : 0;
    const auto record = channel_.expect(member, Piece(Content::step, heard_[index]), size, bytes_);
    if (!record) return false;
    if (heard_[index] == 0) std::memcpy(&offers_[index], record->payload.data(), sizeof(Offer));
    channel_.next(member);
  }
  return true;
}

bool Partners::fitted(int member) {
  if (!fits(member)) channel_.misfit(member, offer_of(member).bytes, bytes_);
  return fits(member);
}

bool Partners::all_fitted() {
  for (int member = 0; member < channel_.size(); ++member)
    if (member != channel_.self() && !fitted(member)) return false;
  return true;
}

bool Partners::all_have_said(std::uint32_t step) {
  for (int member = 0; member < channel_.size(); ++member)
    if (member != channel_.self() && !has_said(member, step)) return false;
  return true;
}

namespace {

/// Whether the copy is made.
bool judge(Channel& channel, int member, Reached reached) {
  if (reached == Reached::refused)
    channel.fail(fmt::format("rank {} of the communicator cannot reach the buffer of rank {}: {}",
                             channel.self(), member, std::strerror(errno)));
  return reached == Reached::done;
}

}  // namespace

bool Partners::read(int member, std::uint64_t address, std::span<std::byte> to) {
  return judge(channel_, member, read_memory(channel_.process_of(member), address, to));
}

bool Partners::write(int member, std::uint64_t address, std::span<const std::byte> from) {
  return judge(channel_, member, write_memory(channel_.process_of(member), address, from));
}

// ---- Packed

void Packed::open(const Data& data, bool filled) {
  apart_ = 0;
  memory_ = data.memory();
  if (memory_ != nullptr || data.bytes == 0) return;
  copy_.resize(data.bytes);
  memory_ = copy_.data();
  if (filled) data.pack(0, copy_);
}

void Packed::open(const Parts& parts, int count, bool filled) {
  const Data first = parts[0];
  apart_ = parts.bytes_apart();
  if (apart_ == 0) return open(first, filled);
  memory_ = first.memory();
  if (memory_ == nullptr && first.bytes > 0) open_copy(parts, count, filled);
}

void Packed::open_copy(const Parts& parts, int count, bool filled) {
  const std::size_t bytes = parts[0].bytes;
  apart_ = static_cast<std::ptrdiff_t>(bytes);
  copy_.resize(bytes * static_cast<std::size_t>(count));
  memory_ = copy_.data();
  for (int index = 0; filled && index < count; ++index) parts[index].pack(0, {part(index), bytes});
}

}  // namespace llamada::mpi::coll
