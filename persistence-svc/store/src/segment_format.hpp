#pragma once

#include <array>
#include <optional>
#include <string>

#include "llamada/store/store.hpp"

// The format of a store's files, docs/internals/store.md. All numbers are little endian.

namespace llamada::store {

using StoreId = std::array<std::byte, 16>;

inline constexpr std::size_t segment_header_bytes = 4096;
inline constexpr std::size_t batch_alignment = 64;
inline constexpr std::size_t item_alignment = 16;
/// What a disk writes as a whole: after a loss of power each such piece is old or new.
inline constexpr std::size_t piece_bytes = 512;

/// The kinds of the store's own items.
enum RecordKind : std::uint8_t {
  record_stream = kind_reserved,  ///< Declares a stream: head is its name, body its description.
  record_drop_below,              ///< Items of the stream below `number` are dropped.
  record_drop,                    ///< An item is dropped; `group` is the batch that it lies in.
  record_end,       ///< The stream has ended; `group` is the last batch that may have items of it.
  record_segments,  ///< Body: all segments that exist, missing ones were given back; see ListedSegment.
  record_lost,      ///< Stands for a damaged item of this number and group that was to be moved.
};

/// An entry of a list of segments. Lists without the flag, of older releases, have numbers only.
struct ListedSegment {
  std::uint64_t number = 0;
  BatchNumber last = 0;  ///< Its last batch; 0: it still grew.
};
static_assert(sizeof(ListedSegment) == 16);
inline constexpr std::uint8_t list_has_last_batches = 1;  ///< Flag of the record.

/// The file `store`.
struct StoreHeader {
  std::array<char, 8> magic;
  StoreId store;
  std::array<std::byte, 36> zero;
  std::uint32_t crc;  ///< Of all bytes before it.
};
static_assert(sizeof(StoreHeader) == 64);

/// At 0 of a segment.
struct SegmentHeader {
  std::array<char, 8> magic;
  StoreId store;
  std::uint64_t number;
  std::uint64_t
      first;  ///< Number of its first batch: equal and greater ones of earlier segments don't count.
  std::array<std::byte, 20> zero;
  std::uint32_t crc;  ///< Of all bytes before it.
};
static_assert(sizeof(SegmentHeader) == 64);

/// At seal_offset of a segment that is complete.
struct Seal {
  std::array<char, 8> magic;
  std::uint64_t footer_offset;  ///< Of its mark.
  std::uint64_t entries;
  std::uint64_t last;    ///< The number of the last batch.
  std::uint64_t synced;  ///< The last batch that was durable when this was written.
  std::uint64_t segment;
  std::uint32_t tag;
  std::uint32_t footer_crc;
  std::uint32_t zero;
  std::uint32_t crc;  ///< Of all bytes before it.
};
static_assert(sizeof(Seal) == 64);
inline constexpr std::size_t seal_offset = piece_bytes;

/// Before the items of a batch.
struct BatchHeader {
  std::uint32_t magic;
  std::uint32_t crc;  ///< Of all bytes behind it.
  std::uint32_t items;
  std::uint32_t zero_pieces;  ///< So many of the pieces of a disk that the batch covers are all zeros.
  std::uint64_t number;
  std::uint64_t bytes;  ///< Of all items.
  std::uint64_t segment;
  std::uint64_t synced;     ///< The last batch that was durable when this was written.
  std::uint32_t tag;        ///< The first bytes of the store's id.
  std::uint32_t heads_crc;  ///< Of all item headers.
  std::uint64_t zero;
};
static_assert(sizeof(BatchHeader) == 64);

/// Before the head and the body of an item.
struct ItemHeader {
  std::uint32_t body_bytes;
  std::uint16_t head_bytes;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint32_t stream;
  std::uint32_t crc;  ///< Of this header with zeros here, head and body.
  std::uint64_t number;
  std::uint64_t group;
  std::int64_t time_ns;
  std::uint64_t zero;

  std::uint64_t bytes() const { return sizeof(ItemHeader) + head_bytes + body_bytes; }
};
static_assert(sizeof(ItemHeader) == 48);

/// At the beginning of a footer, so that it is not taken for a damaged batch while the seal is not on the
/// disk.
inline constexpr std::array<char, 64> footer_mark{'L', 'L', 'F', 'O', 'O', 'T', '\1'};

/// What a footer says of an item; the entries follow the mark.
struct FooterEntry {
  std::uint64_t number;
  std::uint64_t group;
  std::uint32_t stream;
  std::uint32_t unit;   ///< Its place in the segment, in item_alignment.
  std::uint32_t bytes;  ///< Header, head and body.
  std::uint32_t batch;  ///< Its batch's number, less that of the segment's first.
  std::uint8_t kind;
  std::array<std::byte, 7> zero;
};
static_assert(sizeof(FooterEntry) == 40);

StoreHeader make_store_header(const StoreId& store);
bool is_good(const StoreHeader& header);
SegmentHeader make_segment_header(const StoreId& store, std::uint64_t number, BatchNumber first);
bool is_good(const SegmentHeader& header);
void finish(Seal& seal);
bool is_good(const Seal& seal);
bool is_good(const BatchHeader& header);

/// The first bytes of a store's id, which each batch bears.
std::uint32_t tag_of(const StoreId& store);

/// NNNNNNNN.seg, and the number in it.
std::string segment_name(std::uint64_t number);
std::optional<std::uint64_t> segment_number(const std::string& name);

/// Pieces of the disk, or parts of one at both ends, that are all zeros, of bytes at this place of a file.
std::uint32_t count_zero_pieces(std::uint64_t offset, std::span<const std::byte> bytes);
bool is_zero(std::span<const std::byte> bytes);

/// An item as it lies in a batch.
struct StoredItem {
  ItemHeader header{};
  std::uint64_t offset = 0;  ///< In the bytes that were read.
  std::span<const std::byte> head, body;

  bool is_whole() const;
  Item item() const;
};

/// The item at the beginning of bytes; none if they are too few for it.
std::optional<StoredItem> item_at(std::span<const std::byte> bytes, std::uint64_t offset);

/// The items of a batch, in order. Ends before the first that does not fit into the bytes.
class ItemWalk {
 public:
  explicit ItemWalk(std::span<const std::byte> items) : items_(items) {}
  std::optional<StoredItem> next();

 private:
  std::span<const std::byte> items_;
  std::uint64_t offset_ = 0;
};

/// Makes the bytes of a batch: header and items, a multiple of batch_alignment.
class BatchBuilder {
 public:
  BatchBuilder() { clear(); }

  bool is_empty() const { return items_ == 0; }
  /// As if it were finished now.
  std::uint64_t bytes() const;
  /// What an item adds.
  static std::uint64_t bytes_of(const Item& item);
  void add(const Item& item);
  std::span<const std::byte> finish(BatchNumber number, BatchNumber synced, std::uint64_t segment,
                                    std::uint32_t tag, std::uint64_t offset);
  void clear();
  /// Gives the bytes away and goes on, empty, in other memory.
  std::vector<std::byte> exchange(std::vector<std::byte> memory);

 private:
  std::vector<std::byte> bytes_;
  std::uint32_t items_ = 0;
  std::uint32_t heads_crc_ = 0;
};

/// Makes the header of a batch that is written once more in another place fit this place.
void move_batch(std::span<std::byte> batch, BatchNumber synced, std::uint64_t segment, std::uint64_t offset);

}  // namespace llamada::store
