#include "coll/reduction.hpp"

#include <algorithm>

#include "coll/ways.hpp"
#include "llamada/base/copy.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::mpi::coll {
namespace {

constexpr std::uint32_t all_pieces = 0xffffffff;

/// Bytes of a piece: whole elements, about piece_bytes_max(), one at least.
std::size_t whole_elements(const Channel& channel, const Datatype& type) {
  const std::size_t size = std::max<std::size_t>(1, type.size());
  return std::max<std::size_t>(1, channel.piece_bytes_max() / size) * size;
}

/// The data in equal segments of whole elements, one for each member; the last ones may be empty.
std::vector<Data> equal_segments(const Data& data, std::size_t element_bytes, int members) {
  std::size_t elements = data.bytes / element_bytes;
  std::size_t each = divided_up(elements, static_cast<std::size_t>(members));
  std::vector<Data> segments;
  segments.reserve(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) {
    std::size_t first = std::min(elements, member * each);
    std::size_t count = std::min(each, elements - first);
    segments.push_back(data.part(first * element_bytes, count * element_bytes));
  }
  return segments;
}

}  // namespace

std::uint64_t dealt_number(std::span<const std::size_t> counts) {
  std::uint64_t number = 0;
  for (const std::size_t count : counts) number = (number ^ count) * 0x9e3779b97f4a7c15u;
  return number;
}

// ---- Folding

Folding::Folding(Channel& channel, const Reduction& reduction, int begin, int end, const Data& own,
                 const Data& result)
    : channel_(channel),
      accumulator_(reduction.operation, reduction.type),
      piece_bytes_(whole_elements(channel, reduction.type)),
      begin_(begin),
      end_(end),
      own_(own),
      result_(result),
      bytes_given_(own.bytes),
      member_(begin) {
  if (accumulator_.folds_in_place() && result.bytes > 0) place_ = result.memory();
  own_is_in_place_ = place_ != nullptr && own.memory() == place_;
}

bool Folding::step(std::uint32_t own_pieces) {
  for (; folded_ < own_.bytes; folded_ += piece_bytes(), ++piece_, member_ = begin_) {
    if (piece_ >= own_pieces || !fold_piece()) return false;
    if (place_ == nullptr) result_.unpack(folded_, accumulator_.result());
  }
  return true;
}

bool Folding::fold_piece() {
  for (; member_ < end_; ++member_) {
    if (member_ == channel_.self()) {
      take_own();
      continue;
    }
    const auto record =
        channel_.expect(member_, Piece(first_piece_.content(), first_piece_.number() + piece_),
                        record_bytes_ > 0 ? record_bytes_ : piece_bytes(), bytes_given_);
    if (!record) return false;
    // The first one's takes the place of one's own, which is to be folded later.
    if (own_is_in_place_ && member_ == begin_ && channel_.self() > begin_ && channel_.self() < end_)
      copy_bytes(own_copy_.at_least(piece_bytes()), place_ + folded_, piece_bytes());
    take(record_bytes_ > 0 ? record->payload.subspan(slice_first_, own_.bytes) : record->payload);
    channel_.next(member_);
  }
  return true;
}

void Folding::take_own() {
  const std::size_t bytes = piece_bytes();
  if (own_is_in_place_) {
    if (member_ != begin_) take({own_copy_.at_least(bytes), bytes});
  } else if (auto* memory = own_.memory()) {
    take({memory + folded_, bytes});
  } else {
    std::byte* packed = own_copy_.at_least(bytes);
    own_.pack(folded_, {packed, bytes});
    take({packed, bytes});
  }
}

void Folding::take(std::span<const std::byte> packed) {
  if (place_ == nullptr)
    member_ == begin_ ? accumulator_.start(packed) : accumulator_.fold(packed);
  else if (member_ == begin_)
    copy_bytes(place_ + folded_, packed.data(), packed.size());
  else
    accumulator_.fold_into(place_ + folded_, packed);
}

// ---- Everywhere, at the root

FoldEverywhere::FoldEverywhere(Channel& channel, Kind kind, const Reduction& reduction,
                               const Data& contribution, const Data& result, int begin, int end)
    : channel_(channel),
      kind_(kind),
      begin_(begin),
      end_(end),
      sending_(channel, contribution, everybody, whole_elements(channel, reduction.type)),
      folding_(channel, reduction, begin, end, contribution, result) {}

void FoldEverywhere::begin() {
  channel_.begin(kind_);
  for (int member = 0; member < begin_; ++member) channel_.ignore(member);
  for (int member = end_; member < channel_.size(); ++member) channel_.ignore(member);
}

bool FoldEverywhere::step() {
  const bool sent = sending_.step();
  const bool folded = begin_ == end_ || folding_.step(sending_.pieces_sent());
  return sent && folded;
}

FoldAtRoot::FoldAtRoot(Channel& channel, const Reduction& reduction, const Data& contribution,
                       const Data& result, int root)
    : channel_(channel),
      is_root_(channel.self() == root),
      folding_(channel, reduction, channel.members().peer_begin(), channel.members().peer_end(), contribution,
               result) {
  if (!is_root_ && root != no_root)
    sending_ = Sending(channel, contribution, root, whole_elements(channel, reduction.type));
}

bool FoldAtRoot::step() { return is_root_ ? folding_.step(all_pieces) : sending_.step(); }

// ---- Segments

void SendingSegments::begin(Channel& channel, std::span<const Data> segments, std::size_t piece_bytes,
                            std::size_t bytes_given) {
  parts_.clear();
  self_ = channel.self();
  member_ = 0;
  for (std::size_t member = 0; member < segments.size(); ++member) {
    parts_.emplace_back(channel, segments[member], static_cast<int>(member), piece_bytes, Content::segment);
    if (bytes_given > 0) parts_.back().be_part_of(bytes_given);
  }
}

bool SendingSegments::step() {
  const int count = static_cast<int>(parts_.size());
  for (; remains(); member_ = 0)
    for (; member_ < count; ++member_)
      if (member_ != self_ && !parts_[member_].done() && !parts_[member_].step_one()) return false;
  return true;
}

bool SendingSegments::remains() const {
  for (std::size_t member = 0; member < parts_.size(); ++member)
    if (static_cast<int>(member) != self_ && !parts_[member].done()) return true;
  return false;
}

SegmentedReduction::SegmentedReduction(Channel& channel, Kind kind, const Reduction& reduction,
                                       const Data& contribution, const Data& result, int root)
    : channel_(channel),
      kind_(kind),
      reduction_(reduction),
      contribution_(contribution),
      result_(result),
      root_(root),
      block_bytes_(4 * whole_elements(channel, reduction.type) * channel.size()) {}

void SegmentedReduction::begin_block() {
  const std::size_t bytes = std::min(block_bytes_, contribution_.bytes - done_);
  const std::size_t element = reduction_.type.size();
  const auto self = static_cast<std::size_t>(channel_.self());
  auto segments = equal_segments(contribution_.part(done_, bytes), element, channel_.size());
  if (gathers()) {
    auto results = equal_segments(result_.part(done_, bytes), element, channel_.size());
    folded_ = results[self];
    results_ = Parts(std::move(results));
  } else {
    folded_bytes_.resize(segments[self].bytes);
    folded_ = Data::of(std::span<const std::byte>(folded_bytes_));
  }
  channel_.begin(kind_);
  phase_ = Phase::fold;
  sending_.begin(channel_, segments, whole_elements(channel_, reduction_.type), contribution_.bytes);
  folding_.emplace(channel_, reduction_, 0, channel_.size(), segments[self], folded_);
  folding_->fold_segments(contribution_.bytes);
}

void SegmentedReduction::begin_gather() {
  channel_.begin(kind_);
  phase_ = Phase::gather;
  sending_folded_ = Sending();
  if (root_ != channel_.self()) sending_folded_ = Sending(channel_, folded_, root_);
  receiving_.reset();
  if (!gathers()) return;
  receiving_.emplace(channel_, results_);
  receiving_->begin();
}

bool SegmentedReduction::step_fold() {
  const bool sent = sending_.step();
  return folding_->step(all_pieces) && sent;
}

bool SegmentedReduction::step() {
  for (;;) {
    if (phase_ == Phase::fold) {
      if (!step_fold()) return false;
      begin_gather();
    }
    const bool sent = sending_folded_.step();
    if ((receiving_ && !receiving_->step()) || !sent) return false;
    done_ += std::min(block_bytes_, contribution_.bytes - done_);
    if (done_ == contribution_.bytes) return true;
    begin_block();
  }
}

// ---- Reduce_scatter

ReduceScatter::ReduceScatter(Channel& channel, const Reduction& reduction, const Data& contribution,
                             const Data& result, std::span<const std::size_t> counts)
    : channel_(channel),
      reduction_(reduction),
      contribution_(contribution),
      result_(result),
      piece_(small_piece(counts)) {
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (static_cast<int>(rank) == channel.members().rank()) own_first_ = first;
    const std::size_t bytes = counts[rank] * reduction.type.size();
    segments_.push_back(contribution.part(first, bytes));
    first += bytes;
  }
}

void ReduceScatter::begin() {
  channel_.begin_with_peers(Kind::reduce_scatter);
  // One's own segment is folded apart where the result would overwrite contributions that are still to be
  // published. Between groups nobody knows how the others deal out: all is folded.
  sends_all_ = is_small() || !channel_.members().is_intra();
  folds_apart_ = !channel_.members().is_intra() || contribution_.base == result_.base;
  Data folded = result_;
  if (folds_apart_) {
    folded_.resize(channel_.members().is_intra() ? result_.bytes : contribution_.bytes);
    folded = Data::of(std::span<const std::byte>(folded_));
  }
  const std::size_t piece_bytes = whole_elements(channel_, reduction_.type);
  if (sends_all_)
    sending_all_ = Sending(channel_, contribution_, everybody, piece_bytes, is_small() ? piece_ : Piece());
  else
    sending_.begin(channel_, segments_, piece_bytes, 0);
  const Data& own =
      channel_.members().is_intra() ? segments_[static_cast<std::size_t>(channel_.self())] : contribution_;
  folding_.emplace(channel_, reduction_, channel_.members().peer_begin(), channel_.members().peer_end(), own,
                   folded);
  if (is_small())
    folding_->fold_slices(piece_, contribution_.bytes, own_first_);
  else if (channel_.members().is_intra())
    folding_->fold_segments(own.bytes);
}

bool ReduceScatter::step() {
  const bool sent = sends_all_ ? sending_all_.step() : sending_.step();
  if (!folding_->step(all_pieces) || !sent) return false;
  if (!folds_apart_) return true;
  const std::size_t first = channel_.members().is_intra() ? 0 : own_first_;
  copy(Data::of(std::span<const std::byte>(folded_).subspan(first, result_.bytes)), result_);
  return true;
}

// ---- The library's own

namespace {

/// Only ways through the logs, by machines.
Facts own_facts(const Channel& channel, const Data& contribution) {
  Facts facts;
  facts.members = channel.size();
  facts.is_blocking = false;
  facts.may_be_direct = false;
  facts.bytes = contribution.bytes;
  return facts;
}

}  // namespace

Status reduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result, int root) {
  if (choose<reduce_ways>(own_facts(channel, contribution)) != Way::segments) {
    FoldAtRoot machine(channel, reduction, contribution, result, root);
    return run(channel, waiter, machine);
  }
  SegmentedReduction machine(channel, Kind::reduce, reduction, contribution, result, root);
  return run(channel, waiter, machine);
}

Status allreduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                 const Data& result) {
  if (choose<allreduce_ways>(own_facts(channel, contribution)) != Way::segments) {
    FoldEverywhere machine(channel, Kind::allreduce, reduction, contribution, result, 0, channel.size());
    return run(channel, waiter, machine);
  }
  SegmentedReduction machine(channel, Kind::allreduce, reduction, contribution, result, everybody);
  return run(channel, waiter, machine);
}

Status reduce_scatter(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                      const Data& result, std::span<const std::size_t> counts) {
  ReduceScatter machine(channel, reduction, contribution, result, counts);
  return run(channel, waiter, machine);
}

Status scan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
            const Data& result) {
  FoldEverywhere machine(channel, Kind::scan, reduction, contribution, result, 0, channel.self() + 1);
  return run(channel, waiter, machine);
}

Status exscan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result) {
  FoldEverywhere machine(channel, Kind::exscan, reduction, contribution, result, 0, channel.self());
  return run(channel, waiter, machine);
}

}  // namespace llamada::mpi::coll
