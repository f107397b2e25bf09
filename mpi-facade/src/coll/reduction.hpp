#pragma once

#include <span>
#include <vector>

#include "coll/accumulator.hpp"
#include "coll/movement.hpp"
#include "coll/pieces.hpp"

// The collectives that reduce (MPI 3.1, 5.9 to 5.11; between groups: the contributions of the other group).
// Each element is folded in the order of the ranks, by one member or by all, so that the same ranks and count
// give the same bits whatever comes first, and whichever algorithm is chosen. `contribution` and `result` may
// be the same buffer.

namespace llamada::mpi::coll {

struct Reduction {
  const Operation& operation;
  const Datatype& type;
};

/// A number that stands for how a result is dealt out: the same on members that agree, hardly ever else.
std::uint64_t dealt_number(std::span<const std::size_t> counts);

/// Folds the contributions of members [begin, end) piece by piece, in the order of ranks, as they come.
class Folding {
 public:
  /// `own` is this member's contribution if it is one of them; the others' have as many bytes.
  Folding(Channel& channel, const Reduction& reduction, int begin, int end, const Data& own,
          const Data& result);
  /// The others' records, with this name, have `record_bytes`, of which those from `first_byte` on,
  /// as many as `own` has, are folded.
  void fold_slices(Piece piece, std::size_t record_bytes, std::size_t first_byte) {
    first_piece_ = piece;
    bytes_given_ = record_bytes_ = record_bytes;
    slice_first_ = first_byte;
  }
  /// What is folded are segments of so many bytes.
  void fold_segments(std::size_t bytes) {
    first_piece_ = Content::segment;
    bytes_given_ = bytes;
  }

  /// Folds what is there of the first `own_pieces` pieces: one's own must be published before the result
  /// takes its place in the same buffer. True when all is folded.
  bool step(std::uint32_t own_pieces);

 private:
  std::size_t piece_bytes() const { return std::min(piece_bytes_, own_.bytes - folded_); }
  bool fold_piece();
  void take_own();
  void take(std::span<const std::byte> packed);

  Channel& channel_;
  Accumulator accumulator_;
  std::size_t piece_bytes_;
  int begin_;
  int end_;
  Data own_;
  Data result_;
  std::byte* place_ = nullptr;  // where the result is folded; null: in the accumulator
  bool own_is_in_place_ = false;
  std::size_t record_bytes_ = 0;  // 0: whole pieces are folded
  std::size_t slice_first_ = 0;
  Piece first_piece_;
  std::size_t bytes_given_;  // by each
  Scratch own_copy_;
  std::size_t folded_ = 0;
  std::uint32_t piece_ = 0;
  int member_;
};

/// Everybody folds what members [begin, end) contribute: small allreductions, those between groups, scans.
class FoldEverywhere final : public Machine {
 public:
  FoldEverywhere(Channel& channel, Kind kind, const Reduction& reduction, const Data& contribution,
                 const Data& result, int begin, int end);
  void begin() override;
  bool step() override;

 private:
  bool has_given() const override { return sending_.done(); }

  Channel& channel_;
  Kind kind_;
  int begin_;
  int end_;
  Sending sending_;
  Folding folding_;
};

/// The root folds all: small reductions, and those between groups.
class FoldAtRoot final : public Machine {
 public:
  FoldAtRoot(Channel& channel, const Reduction& reduction, const Data& contribution, const Data& result,
             int root);
  void begin() override { channel_.begin_with_peers(Kind::reduce); }
  bool step() override;

 private:
  bool has_given() const override { return is_root_; }

  Channel& channel_;
  bool is_root_;
  Sending sending_;
  Folding folding_;
};

/// Publishes to each member its segment, piece 0 of all first, so that all can fold at the same time.
class SendingSegments {
 public:
  /// `bytes_given`: what the others are told; 0: the segment's own length.
  void begin(Channel& channel, std::span<const Data> segments, std::size_t piece_bytes,
             std::size_t bytes_given);
  bool step();
  bool done() const { return !remains(); }

 private:
  bool remains() const;

  std::vector<Sending> parts_;
  int self_ = 0;
  int member_ = 0;
};

/// A large reduction within a group: each member folds its segment of all contributions, then the segments
/// are gathered, by `root` or by everybody. Block by block, so that what is folded is still in the cache when
/// it is read.
class SegmentedReduction final : public Machine {
 public:
  SegmentedReduction(Channel& channel, Kind kind, const Reduction& reduction, const Data& contribution,
                     const Data& result, int root);
  void begin() override { begin_block(); }
  bool step() override;

 private:
  enum class Phase { fold, gather };
  void begin_block();
  void begin_gather();
  bool step_fold();
  bool gathers() const { return root_ == everybody || root_ == channel_.self(); }

  Channel& channel_;
  Kind kind_;
  Reduction reduction_;
  Data contribution_;
  Data result_;
  int root_;
  std::size_t block_bytes_;
  std::size_t done_ = 0;
  Phase phase_ = Phase::fold;
  std::vector<std::byte> folded_bytes_;
  Data folded_;
  SendingSegments sending_;
  std::optional<Folding> folding_;
  Parts results_;
  Sending sending_folded_;
  std::optional<ReceivingFromAll> receiving_;
};

/// The result's elements are dealt out in order, `counts[rank]` to each.
class ReduceScatter final : public Machine {
 public:
  ReduceScatter(Channel& channel, const Reduction& reduction, const Data& contribution, const Data& result,
                std::span<const std::size_t> counts);
  void begin() override;
  bool step() override;
  /// The name of the one piece of a small contribution.
  static Piece small_piece(std::span<const std::size_t> counts) {
    return {Content::dealt_out, static_cast<std::uint32_t>(dealt_number(counts) >> 40)};
  }

 private:
  bool has_given() const override { return sends_all_ ? sending_all_.done() : sending_.done(); }
  bool is_small() const {
    return channel_.members().is_intra() && contribution_.bytes <= small_reduction_bytes_max;
  }

  Channel& channel_;
  Reduction reduction_;
  Data contribution_;
  Data result_;
  std::vector<Data> segments_;
  std::size_t own_first_ = 0;
  Piece piece_;             // of small ones
  bool sends_all_ = false;  // to everybody, instead of its segment to each
  bool folds_apart_ = false;
  std::vector<std::byte> folded_;
  SendingSegments sending_;
  Sending sending_all_;
  std::optional<Folding> folding_;
};

// Blocking ones, for the library's own use. Errors: as for those of movement.hpp.

/// `result` at the root only.
Status reduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result, int root);
Status allreduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                 const Data& result);
Status reduce_scatter(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                      const Data& result, std::span<const std::size_t> counts);
Status scan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
            const Data& result);
Status exscan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result);

}  // namespace llamada::mpi::coll
