#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "llamada/store/store.hpp"

namespace llamada::sim {

using store::BatchNumber;
using store::StreamId;

/// A digest of all fields of an item.
std::uint64_t digest_of(const store::Item& item);
std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// What a store has, as its readers see it.
struct StoreState {
  struct Kept {
    std::uint64_t digest = 0;
    std::uint64_t group = 0;
    std::uint64_t bytes = 0;  ///< Head and body.
    bool operator==(const Kept&) const = default;
  };
  struct Stream {
    std::string name;
    std::uint64_t description = 0;  ///< Its digest.
    std::map<std::uint64_t, Kept> items;
    /// The numbers of the newest items of a group.
    std::vector<std::uint64_t> newest(std::uint64_t group, std::size_t count) const;
    bool operator==(const Stream&) const = default;
  };
  std::map<StreamId, Stream> streams;

  bool operator==(const StoreState&) const = default;
  std::uint64_t items() const;
};

/// A change that a batch makes.
struct StoreChange {
  enum Kind { declare, append, drop_below, drop, end };
  Kind kind;
  StreamId stream;
  std::uint64_t number = 0;
  StoreState::Kept kept{};      ///< Of append.
  std::string name;             ///< Of declare.
  std::uint64_t description{};  ///< Of declare.
};
using StoreChanges = std::vector<StoreChange>;

void apply_changes(const StoreChanges& changes, StoreState& state);

/// What flipped bits may have destroyed.
struct StoreDamage {
  std::set<std::pair<StreamId, std::uint64_t>> items;
  std::set<StreamId> streams;      ///< Their declarations: all of them may be gone.
  std::set<StreamId> resurrected;  ///< Records of drops: what was dropped may be there again.
  bool list = false;               ///< A list of segments: anything dropped may be there again.
  bool free_room = false;          ///< Room that later batches are written to.

  bool is_none() const { return items.empty() && streams.empty() && resurrected.empty() && !list; }
};

/// What a store may have after any number of crashes: the batches that were synced, and any further ones up
/// to the first that is missing. A batch whose writing has failed may be there, or not, or in the place of
/// what was tried later under its number.
class StoreModel {
 public:
  const StoreState& now() const { return now_; }
  const StoreState& confirmed() const { return confirmed_; }
  BatchNumber written() const { return written_; }
  BatchNumber synced() const { return synced_; }
  std::size_t unsynced_batches() const { return pending_.size(); }
  const StoreDamage& damage() const { return damage_; }
  bool is_damaged() const { return !damage_.is_none(); }
  void note_damage(const StoreDamage& damage);
  /// A store is about to die. A torn batch that lies where bits were flipped before looks like a damaged one.
  void note_torn_batches();

  /// A change in the open batch.
  void add(StoreChange change);
  const StoreChanges& open() const { return open_; }
  void forget_open() { open_.clear(); }
  /// write() was called; `number` is what the batch gets or would have got.
  void written(BatchNumber number, bool succeeded);
  void synced(BatchNumber through);

  /// After a start that found `through` as the last batch: why `found` cannot be, or an empty text. Otherwise
  /// the model goes on from there. `lost_power`: batches that were not synced may be gone; `has_failed`: a
  /// call of the disk has failed since the last sync, so a number may belong to a batch of the store's own.
  std::string started(const StoreState& found, BatchNumber through, bool lost_power, bool has_failed);
  /// Why a running store cannot have this, or an empty text. `through`: of a reader that sees the disk only.
  std::string check(const StoreState& found) const;
  /// A store calls neither more nor less live than what it keeps. Why this cannot be, or an empty text.
  std::string check_live_bytes(std::uint64_t live_bytes) const;

 private:
  bool match(const StoreState& found, StoreState state, BatchNumber number, BatchNumber through,
             bool lost_power, bool has_failed, int& tries) const;
  std::string difference(const StoreState& expected, const StoreState& found) const;
  bool may_have(StreamId stream, std::uint64_t number, const StoreState::Kept& kept) const;

  StoreState confirmed_, now_;
  BatchNumber synced_ = 0, written_ = 0;
  StoreChanges open_;
  /// What was tried under each number after synced_; what has succeeded is last.
  struct Tries {
    std::vector<StoreChanges> tried;
    bool succeeded = false;
  };
  std::map<BatchNumber, Tries> pending_;
  /// All items that were ever tried to be appended.
  std::map<std::pair<StreamId, std::uint64_t>, std::vector<StoreState::Kept>> ever_;
  StoreDamage damage_;
};

}  // namespace llamada::sim
