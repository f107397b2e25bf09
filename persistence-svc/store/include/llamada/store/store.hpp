#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::store {

/// A stream of a store: given by Store::stream(), the same after each start, never 0 and never used twice.
using StreamId = std::uint32_t;
/// The numbers of batches grow. Those in between belong to batches that the store itself has made.
using BatchNumber = std::uint64_t;

/// Kinds from here on belong to the store itself.
inline constexpr std::uint8_t kind_reserved = 0xf0;
/// The longest body, and the longest head, of an item.
inline constexpr std::size_t body_bytes_max = std::size_t{1} << 30;
inline constexpr std::size_t head_bytes_max = 0xffff;
/// The longest name and the longest description of a stream.
inline constexpr std::size_t name_bytes_max = 4096 - 1;
inline constexpr std::size_t description_bytes_max = std::size_t{1} << 20;

/// What a stream consists of. The store keeps all fields and interprets `stream`, `number` and `group` only.
struct Item {
  StreamId stream = 0;
  std::uint64_t number = 0;  ///< Within its stream each item has a greater one than those before it; not 0.
  std::uint64_t group = 0;   ///< E.g. an instance of a topic: newest() finds a group's items. 0: none.
  std::uint8_t kind = 0;     ///< Less than kind_reserved.
  std::uint8_t flags = 0;
  std::int64_t time_ns = 0;
  std::span<const std::byte> head;  ///< At most head_bytes_max.
  std::span<const std::byte> body;  ///< At most body_bytes_max.
};

/// A stream as read() shows it: without what waits in the open batch.
struct StreamInfo {
  StreamId id = 0;
  std::string name;
  std::vector<std::byte> description;
  std::uint64_t first = 0;  ///< The number of the oldest item; 0 if there is none.
  std::uint64_t last = 0;   ///< The number of the newest item; 0 if there is none.
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;  ///< Of heads and bodies.
  std::uint64_t used = 0;   ///< The greatest number that an item ever had: the next one's must be greater.
};

struct StoreFigures {
  std::uint64_t bytes = 0;             ///< What the store takes of the disk, or of memory.
  std::uint64_t live_bytes = 0;        ///< The part of it that was not dropped.
  std::uint64_t free_ahead_bytes = 0;  ///< Allocated and not yet written.
  std::uint64_t segments = 0;
  BatchNumber written = 0;            ///< The last batch that was written.
  BatchNumber synced = 0;             ///< The last one that is known to be durable.
  std::uint64_t last_sync_ns = 0;     ///< How long the last sync() of files took.
  std::uint64_t torn_batches = 0;     ///< Cut off at the start: they had never been synced.
  std::uint64_t damaged_items = 0;    ///< Found damaged since the start.
  std::uint64_t damaged_batches = 0;  ///< Batches of which not even the numbers of all items are known.
  std::uint64_t failed_syncs = 0;     ///< After each, the unsynced batches were written anew.
};

/// A store of streams of items: append in order, read in order, drop the oldest. The unit of change is the
/// *batch*: all that is appended, declared and dropped between two calls of write(). After a crash the store
/// has a prefix of its batches, each whole, and at least all that sync() has confirmed.
///
/// Threads: one thread calls everything; sync() may run in a second thread at the same time, for it takes
/// milliseconds. Callbacks must not call the store.
///
/// An operation that fails changes nothing.
class Store {
 public:
  /// Return false to read no further. The spans are valid during the call.
  using OnItem = std::function<bool(const Item&)>;
  /// Is told the number of an item that was stored and can no longer be read.
  using OnDamaged = std::function<void(std::uint64_t number)>;

  virtual ~Store() = default;

  /// Finds the stream of this name, or declares it in the open batch; an existing one keeps its description.
  /// Errors: invalid_argument (name empty or too long), and those of append().
  virtual Result<StreamId> stream(std::string_view name, std::span<const std::byte> description) = 0;

  /// Copies an item into the open batch. Errors: not_found (no such stream), invalid_argument (number, kind
  /// or sizes), would_block (the batch is full: call write() first), out_of_resources (there is no room on
  /// the disk for another segment; the store looks for room once a second), unsupported (opened to be read).
  virtual Status append(const Item& item) = 0;

  /// Drops what is written or appended: items with smaller numbers, one item (if it is there), or the stream
  /// as a whole. Takes effect with write(), but numbers below the one of drop_below() can no longer be
  /// appended at once. Errors: not_found (no such stream), and those of append().
  virtual Status drop_below(StreamId stream, std::uint64_t number) = 0;
  virtual Status drop(StreamId stream, std::uint64_t number) = 0;
  virtual Status end(StreamId stream) = 0;

  /// Closes the open batch and writes it: read() shows it, and it survives this process, not yet the
  /// machine. The number of the batch; an empty one is not written, and the number is that of the last.
  /// Errors: system, out_of_resources; then the batch stays open, and write() may be tried again.
  virtual Result<BatchNumber> write() = 0;

  /// Makes all batches up to this one durable. Acknowledge nothing before it has returned without an error.
  /// When the disk fails to do so, the store writes these batches anew elsewhere, and an error says that this
  /// failed, too: call it again later. May be called in another thread than everything else. Errors: system,
  /// out_of_resources, precondition_not_met (batches that were written and never synced are lost for good:
  /// append their items again; their numbers count as synced).
  virtual Status sync(BatchNumber batch) = 0;

  /// Calls on_item for the items of a stream from this number on, in order. Damaged items go to on_damaged;
  /// without it, the first one ends the reading with parse_error. Errors: not_found, parse_error, system.
  virtual Status read(StreamId stream, std::uint64_t from, const OnItem& on_item,
                      const OnDamaged& on_damaged) const = 0;
  Status read(StreamId stream, std::uint64_t from, const OnItem& on_item) const {
    return read(stream, from, on_item, nullptr);
  }

  /// The same for the newest `count` items of a group, oldest first. An unknown group has none.
  virtual Status newest(StreamId stream, std::uint64_t group, std::size_t count, const OnItem& on_item,
                        const OnDamaged& on_damaged) const = 0;
  Status newest(StreamId stream, std::uint64_t group, std::size_t count, const OnItem& on_item) const {
    return newest(stream, group, count, on_item, nullptr);
  }

  /// In the order in which they were declared.
  virtual std::vector<StreamInfo> streams() const = 0;
  virtual StoreFigures figures() const = 0;
};

}  // namespace llamada::store
