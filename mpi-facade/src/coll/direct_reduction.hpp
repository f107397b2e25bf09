#pragma once

#include <span>
#include <vector>

#include "coll/direct.hpp"
#include "coll/reduction.hpp"

namespace llamada::mpi::coll {

/// A large reduction within a group, from memory to memory: each member folds its segment of all
/// contributions, in the order of ranks and in pieces that stay in the cache. Of a reduce it writes that to
/// the root, of a reduce_scatter it is its result.
class DirectReduction final : public Machine {
 public:
  /// `kind`: reduce or reduce_scatter. `segments`: of how many elements each member's is, in order. `root`:
  /// of a reduce.
  DirectReduction(Channel& channel, Kind kind, const Reduction& reduction, const Data& contribution,
                  const Data& result, int root, std::span<const std::size_t> segments);
  void begin() override;
  bool step() override;

  /// Elements dealt out evenly, the first ones' segments a little longer.
  static std::vector<std::size_t> even_segments(std::size_t elements, int members);

 private:
  bool has_given() const override { return is_done_; }
  bool is_scattered() const { return kind_ == Kind::reduce_scatter; }
  /// Whether a result, whole or a segment, comes to be here.
  bool takes() const { return is_scattered() || channel_.self() == root_; }
  bool all_fit() const;
  std::byte* place_of_piece(std::size_t bytes);
  const std::byte* own_piece(const std::byte* place, std::size_t bytes);
  bool fold_all();
  bool fold_piece(std::size_t bytes);
  bool fold_from(int member, const std::byte* own, std::byte* place, std::size_t bytes);
  bool write_piece(std::byte* place, std::size_t bytes);

  Channel& channel_;
  Kind kind_;
  Accumulator accumulator_;
  Data contribution_;
  Data result_;
  int root_;
  std::size_t first_byte_ = 0;  // of this member's segment
  std::size_t bytes_ = 0;
  std::uint64_t dealt_;
  std::size_t piece_bytes_;
  std::size_t folded_ = 0;
  bool is_done_ = false;      // and so are the others
  bool folds_apart_ = false;  // the result comes to where contributions lie that others are still to read
  Packed given_;
  Packed taken_;
  Scratch value_, theirs_, own_copy_;
  Partners partners_;
};

}  // namespace llamada::mpi::coll
