#include "coll/reduction.hpp"

#include <algorithm>

#include "coll/movement.hpp"

namespace llamada::mpi::coll {
namespace {

constexpr std::uint32_t all_pieces = 0xffffffff;

/// Bytes of a piece: whole elements, about piece_bytes_max, one at least.
std::size_t whole_elements(const Datatype& type) {
  return std::max<std::size_t>(1, piece_bytes_max / type.size()) * type.size();
}

/// Folds the contributions of members [0, end) piece by piece, in the order of ranks, as they come.
class Folding {
 public:
  Folding(Channel& channel, const Reduction& reduction, int end, const Data& own, const Data& result)
      : channel_(channel),
        accumulator_(reduction.operation, reduction.type),
        piece_bytes_(whole_elements(reduction.type)),
        end_(end),
        own_(own),
        result_(result) {}

  /// Folds what is there of the first `own_pieces` pieces: one's own must be published before the result
  /// takes its place in the same buffer. True when all is folded.
  bool step(std::uint32_t own_pieces) {
    for (; folded_ < own_.bytes; folded_ += piece_bytes(), ++piece_, member_ = 0) {
      if (piece_ >= own_pieces || !fold_piece()) return false;
      result_.unpack(folded_, accumulator_.result());
    }
    return true;
  }

 private:
  std::size_t piece_bytes() const { return std::min(piece_bytes_, own_.bytes - folded_); }

  bool fold_piece() {
    for (; member_ < end_; ++member_)
      if (!fold_member()) return false;
    return true;
  }
  bool fold_member() {
    if (member_ == channel_.self()) return fold_own();
    auto record = channel_.expect(member_, piece_, piece_bytes());
    if (!record) return false;
    take(record->payload);
    channel_.next(member_);
    return true;
  }
  bool fold_own() {
    if (auto* memory = own_.memory()) {
      take({memory + folded_, piece_bytes()});
    } else {
      packed_.resize(piece_bytes());
      own_.pack(folded_, packed_);
      take(packed_);
    }
    return true;
  }
  void take(std::span<const std::byte> packed) {
    member_ == 0 ? accumulator_.start(packed) : accumulator_.fold(packed);
  }

  Channel& channel_;
  Accumulator accumulator_;
  std::size_t piece_bytes_;
  int end_;
  Data own_;
  Data result_;
  std::vector<std::byte> packed_;
  std::size_t folded_ = 0;
  std::uint32_t piece_ = 0;
  int member_ = 0;
};

/// Publishes to each member its segment, piece 0 of all first, so that all can fold at the same time.
class SendingSegments {
 public:
  SendingSegments(Channel& channel, std::span<const Data> segments, std::size_t piece_bytes)
      : channel_(channel) {
    for (int member = 0; member < channel.size(); ++member)
      parts_.emplace_back(channel, segments[member], member, piece_bytes);
  }
  bool step() {
    for (; remains(); member_ = 0)
      for (; member_ < channel_.size(); ++member_)
        if (member_ != channel_.self() && !parts_[member_].done() && !parts_[member_].step_one())
          return false;
    return true;
  }

 private:
  bool remains() const {
    for (int member = 0; member < channel_.size(); ++member)
      if (member != channel_.self() && !parts_[member].done()) return true;
    return false;
  }

  Channel& channel_;
  std::vector<Sending> parts_;
  int member_ = 0;
};

Status fold_segments(Channel& channel, Waiter& waiter, Kind kind, const Reduction& reduction,
                     std::span<const Data> segments, const Data& result) {
  const Data& own = segments[channel.self()];
  SendingSegments sending(channel, segments, whole_elements(reduction.type));
  Folding folding(channel, reduction, channel.size(), own, result);
  return run(channel, waiter, kind, [&] {
    bool sent = sending.step();
    return folding.step(all_pieces) && sent;
  });
}

/// Everybody folds everything.
Status fold_everywhere(Channel& channel, Waiter& waiter, Kind kind, const Reduction& reduction,
                       const Data& contribution, const Data& result) {
  Sending sending(channel, contribution, everybody, whole_elements(reduction.type));
  Folding folding(channel, reduction, channel.size(), contribution, result);
  return run(channel, waiter, kind, [&] {
    bool sent = sending.step();
    return folding.step(sending.pieces_sent()) && sent;
  });
}

Status fold_at_root(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                    const Data& result, int root) {
  if (channel.self() == root) {
    Folding folding(channel, reduction, channel.size(), contribution, result);
    return run(channel, waiter, Kind::reduce, [&] { return folding.step(all_pieces); });
  }
  Sending sending(channel, contribution, root, whole_elements(reduction.type));
  return run(channel, waiter, Kind::reduce, [&] { return sending.step(); });
}

/// Each member folds what those before it contribute, up to `end`.
Status fold_before(Channel& channel, Waiter& waiter, Kind kind, const Reduction& reduction,
                   const Data& contribution, const Data& result, int end) {
  Sending sending(channel, contribution, everybody, whole_elements(reduction.type));
  Folding folding(channel, reduction, end, contribution, result);
  bool nothing_before = end == 0;
  return run(
      channel, waiter, kind,
      [&] {
        bool sent = sending.step();
        return (nothing_before || folding.step(sending.pieces_sent())) && sent;
      },
      end);
}

/// The data in equal segments of whole elements, one for each member; the last ones may be empty.
std::vector<Data> equal_segments(const Data& data, std::size_t element_bytes, int members) {
  std::size_t elements = data.bytes / element_bytes;
  std::size_t each = (elements + members - 1) / members;
  std::vector<Data> segments;
  for (int member = 0; member < members; ++member) {
    std::size_t first = std::min(elements, member * each);
    std::size_t count = std::min(each, elements - first);
    segments.push_back(data.part(first * element_bytes, count * element_bytes));
  }
  return segments;
}

/// A large reduction: each member folds its segment of all contributions, then the segments are gathered.
/// Block by block, so that what is folded is still in the cache when it is read.
class SegmentedReduction {
 public:
  SegmentedReduction(Channel& channel, Waiter& waiter, Kind kind, const Reduction& reduction)
      : channel_(channel), waiter_(waiter), kind_(kind), reduction_(reduction) {}

  /// `root` or everybody gets the result.
  Status run(const Data& contribution, const Data& result, int root) {
    std::size_t block_bytes = 4 * whole_elements(reduction_.type) * channel_.size();
    for (std::size_t done = 0; done < contribution.bytes; done += block_bytes) {
      std::size_t bytes = std::min(block_bytes, contribution.bytes - done);
      bool gets_result = root == everybody || root == channel_.self();
      auto status =
          run_block(contribution.part(done, bytes), gets_result ? result.part(done, bytes) : Data{}, root);
      if (!status) return status;
    }
    return {};
  }

 private:
  Status run_block(const Data& contribution, const Data& result, int root) {
    auto segments = equal_segments(contribution, reduction_.type.size(), channel_.size());
    folded_.resize(segments[channel_.self()].bytes);
    Data folded = Data::of(std::span<const std::byte>(folded_));
    if (auto status = fold_segments(channel_, waiter_, kind_, reduction_, segments, folded); !status)
      return status;
    std::vector<Data> results;
    if (result.bytes > 0) {
      results = equal_segments(result, reduction_.type.size(), channel_.size());
      copy(folded, results[channel_.self()]);
    }
    return root == everybody ? allgather(channel_, waiter_, folded, results, kind_)
                             : gather(channel_, waiter_, folded, results, root, kind_);
  }

  Channel& channel_;
  Waiter& waiter_;
  Kind kind_;
  const Reduction& reduction_;
  std::vector<std::byte> folded_;
};

}  // namespace

Status reduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result, int root) {
  if (contribution.bytes <= small_reduction_bytes_max)
    return fold_at_root(channel, waiter, reduction, contribution, result, root);
  return SegmentedReduction(channel, waiter, Kind::reduce, reduction).run(contribution, result, root);
}

Status allreduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                 const Data& result) {
  if (contribution.bytes <= small_reduction_bytes_max)
    return fold_everywhere(channel, waiter, Kind::allreduce, reduction, contribution, result);
  return SegmentedReduction(channel, waiter, Kind::allreduce, reduction).run(contribution, result, everybody);
}

Status reduce_scatter(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                      const Data& result, std::span<const std::size_t> counts) {
  // One's own segment is folded apart when the result would overwrite contributions that are still to be
  // published.
  std::vector<Data> segments;
  std::size_t first = 0;
  for (std::size_t count : counts) {
    std::size_t bytes = count * reduction.type.size();
    segments.push_back(contribution.part(first, bytes));
    first += bytes;
  }
  std::vector<std::byte> folded(segments[channel.self()].bytes);
  Data apart = Data::of(std::span<const std::byte>(folded));
  auto status = fold_segments(channel, waiter, Kind::reduce_scatter, reduction, segments, apart);
  if (status) copy(apart, result);
  return status;
}

Status scan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
            const Data& result) {
  return fold_before(channel, waiter, Kind::scan, reduction, contribution, result, channel.self() + 1);
}

Status exscan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result) {
  return fold_before(channel, waiter, Kind::exscan, reduction, contribution, result, channel.self());
}

}  // namespace llamada::mpi::coll
