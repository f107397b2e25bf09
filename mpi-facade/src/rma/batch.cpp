#include "rma/batch.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "llamada/base/rounding.hpp"
#include "rma/reach.hpp"

namespace llamada::mpi::rma {

/// Memory of the target; each byte of it belongs to one place at most.
struct Batch::Place {
  std::uint64_t address;
  std::byte* here;  ///< what is there; aligned for all types, unless it is the program's own
  std::size_t bytes;
  bool is_straight;  ///< `here` is the program's: nothing else is done with it
  bool is_read;      ///< else the first operation has given all of it
  bool is_changed;
};

/// A SmallOperation on a place, with copies of what is given and compared. (Its fields are in another order:
/// copied in pairs, they would be loaded before they are stored one by one.)
struct Batch::Recorded {
  Place* place;
  std::byte* result;
  const std::byte* given;
  const Operation* operation;
  const std::byte* compare;
  const Datatype* basic;

  void apply() const;
};

struct Batch::Room {
  static constexpr std::size_t alignment = alignof(std::max_align_t);

  std::array<Place, operations_max> places;
  std::array<Recorded, operations_max> recorded;
  std::array<Piece, operations_max> pieces;
  /// For each operation its place, what is given and what is compared.
  alignas(alignment) std::array<std::byte, operations_max * operation_bytes_max * 3> bytes;
};

namespace {

bool is_put(const SmallOperation& operation) {
  return operation.given && !operation.result && !operation.compare && !operation.operation;
}
bool is_get(const SmallOperation& operation) { return !operation.given; }
/// A short put is copied: others may follow on its place, and the program has its buffer back.
bool goes_straight(const SmallOperation& operation) {
  return is_get(operation) || operation.bytes > Batch::operation_bytes_max;
}

}  // namespace

void Batch::Recorded::apply() const {
  std::byte* there = place->here;
  if (result) std::memcpy(result, there, place->bytes);
  if (!given || (compare && std::memcmp(there, compare, place->bytes) != 0)) return;
  if (operation)
    operation->apply(given, there, place->bytes / basic->size(), *basic);
  else
    std::memcpy(there, given, place->bytes);
  place->is_changed = true;
}

void Batch::RoomDeleter::operator()(Room* room) const { delete room; }

/// The operation's place, or the next free one. Null: another is in the way.
Batch::Place* Batch::find_place(const SmallOperation& operation) {
  const auto begin = room_->places.begin(), end = begin + place_count_;
  const std::uint64_t first = operation.address, last = first + operation.bytes;
  if (first >= highest_ || last <= lowest_) return end;
  const auto found = std::find_if(
      begin, end, [&](auto& place) { return first < place.address + place.bytes && place.address < last; });
  const bool is_in_the_way =
      found != end && (found->is_straight || found->address != first || found->bytes != operation.bytes);
  return is_in_the_way ? nullptr : found;
}

Batch::Place& Batch::add_place(const SmallOperation& operation) {
  lowest_ = std::min(lowest_, operation.address);
  highest_ = std::max(highest_, operation.address + operation.bytes);
  moved_bytes_ += operation.bytes;
  const bool is_read = !is_put(operation), is_straight = goes_straight(operation);
  reads_ |= is_read;
  return room_->places[place_count_++] = {
             operation.address, here_of(operation), operation.bytes, is_straight, is_read, !is_read};
}

/// Where a new place's bytes are: in the program's memory if they go straight, else in room with what is put.
std::byte* Batch::here_of(const SmallOperation& operation) {
  if (is_get(operation)) return operation.result;
  // Only read: nothing else is done with the place.
  if (goes_straight(operation)) return const_cast<std::byte*>(operation.given);
  return copy(is_put(operation) ? operation.given : nullptr, operation.bytes);
}

/// Room for so many bytes, with a copy of those, if there are any.
std::byte* Batch::copy(const std::byte* from, std::size_t bytes) {
  std::byte* to = room_->bytes.data() + used_bytes_;
  used_bytes_ += rounded_up(bytes, Room::alignment);
  if (from) std::memcpy(to, from, bytes);
  return to;
}

/// Puts that go straight to the same place one after the other: the last one is the outcome of all. Likewise
/// gets of the same place to the same memory. Only so many: somebody may wait for their effect.
bool Batch::combine(const SmallOperation& operation) {
  if (!last_straight_ || combined_count_ == operations_max) return false;
  Place& last = *last_straight_;
  if (last.address != operation.address || last.bytes != operation.bytes) return false;
  const bool both_put = is_put(operation) && !last.is_read;
  const bool both_get = is_get(operation) && last.is_read && last.here == operation.result;
  if (!both_put && !both_get) return false;
  if (both_put) last.here = const_cast<std::byte*>(operation.given);
  has_accumulates_ |= operation.is_accumulate;
  ++combined_count_;
  return true;
}

bool Batch::add(const SmallOperation& operation) {
  if (place_count_ > 0 && combine(operation)) return true;
  if (!room_) room_.reset(new Room);
  if (place_count_ == operations_max || recorded_count_ == operations_max) return false;
  if (place_count_ > 0 && moved_bytes_ + operation.bytes > all_bytes_max) return false;
  Place* place = find_place(operation);
  if (!place) return false;
  has_accumulates_ |= operation.is_accumulate;
  const bool is_new = place == room_->places.data() + place_count_;
  if (is_new) add_place(operation);
  last_straight_ = is_new && goes_straight(operation) ? place : nullptr;
  combined_count_ = 0;
  if (is_new && (is_put(operation) || is_get(operation))) return true;
  Recorded& recorded = room_->recorded[recorded_count_++];
  recorded = {place, operation.result, nullptr, operation.operation, nullptr, operation.basic};
  if (operation.given) recorded.given = copy(operation.given, operation.bytes);
  if (operation.compare) recorded.compare = copy(operation.compare, operation.bytes);
  return true;
}

/// What is there, into the places that are to be read.
Status Batch::read(pid_t pid) {
  const auto pieces = pieces_of(&Place::is_read);
  if (pieces.size() == 1 && file_.read(pid, pieces[0])) return {};
  return read_process(pid, pieces);
}

Status Batch::write(pid_t pid, std::span<const Piece> pieces) {
  if (pieces.size() == 1 && file_.write(pid, pieces[0])) return {};
  auto status = write_process(pid, pieces);
  if (status && pieces.size() == 1) file_.written(pieces[0]);
  return status;
}

Status Batch::carry_out(pid_t pid) {
  auto status = reads_ ? read(pid) : Status{};
  if (status) {
    for (std::size_t i = 0; i < recorded_count_; ++i) room_->recorded[i].apply();
    // Nothing but what has changed: somebody else may be writing to the rest.
    if (const auto changed = pieces_of(&Place::is_changed); !changed.empty()) status = write(pid, changed);
  }
  place_count_ = recorded_count_ = used_bytes_ = moved_bytes_ = 0;
  lowest_ = UINT64_MAX;
  highest_ = 0;
  reads_ = has_accumulates_ = false;
  return status;
}

/// The pieces of a system call that moves these places.
std::span<const Piece> Batch::pieces_of(bool Place::*is_one) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < place_count_; ++i)
    if (const Place& place = room_->places[i]; place.*is_one)
      room_->pieces[count++] = {place.here, place.address, place.bytes};
  return {room_->pieces.data(), count};
}

}  // namespace llamada::mpi::rma
