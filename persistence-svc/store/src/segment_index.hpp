#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "llamada/store/files.hpp"
#include "segment_format.hpp"

namespace llamada::store {

/// Where an item lies.
struct Place {
  std::uint32_t segment = 0;
  std::uint32_t unit = 0;   ///< In the segment, in item_alignment.
  std::uint32_t bytes = 0;  ///< Header, head and body.
  std::uint32_t batch = 0;  ///< Number of its batch, less that of the segment's first.

  std::uint64_t offset() const { return std::uint64_t{unit} * item_alignment; }
  bool is_same(const Place& other) const { return segment == other.segment && unit == other.unit; }
};

/// A segment of the store that has a header.
struct Segment {
  std::shared_ptr<File> file;
  BatchNumber first = 0;
  BatchNumber last = 0;     ///< first - 1 if it has none.
  std::uint64_t end = 0;    ///< Behind the last batch.
  std::uint64_t bytes = 0;  ///< On the disk.
  std::uint64_t live_bytes = 0;
  /// Bytes of the items here that say what was dropped from a segment: they live as long as that one.
  std::map<std::uint64_t, std::uint64_t> drops_in;
  std::uint64_t ends = 0;  ///< So many items here say that a stream has ended.
  /// Some of its items are in later segments, too: a process died while it was cleaned.
  bool has_doubles = false;
  /// The batch after which, once it is durable, the file can go. 0: none.
  BatchNumber gone_after = 0;

  /// Whether more is live here than what says that items were dropped.
  bool may_have_items() const {
    std::uint64_t drops = 0;
    for (const auto& [segment, drop_bytes] : drops_in) drops += drop_bytes;
    return live_bytes != drops;
  }
};

/// An item as the index sees it.
struct Record {
  RecordKind kind_of_store() const { return static_cast<RecordKind>(kind); }
  bool is_item() const { return kind < kind_reserved || kind == record_lost; }

  std::uint8_t kind = 0;
  StreamId stream = 0;
  std::uint64_t number = 0;
  std::uint64_t group = 0;
  Place place;
  std::span<const std::byte> head, body;  ///< Only of the kinds record_stream and record_segments.
};

/// What a store has, and where: rebuilt at each start from the items of all segments in their order. Each
/// item costs 32 bytes, and 8 more if it is in a group.
class SegmentIndex {
 public:
  struct Entry {
    std::uint64_t number;
    std::uint64_t group;
    Place place;  ///< segment 0: dropped.
  };
  struct Stream {
    std::string name;
    std::vector<std::byte> description;
    bool is_declared = false;
    Place declared, floor_at;
    std::uint64_t floor = 0;  ///< Of drop_below(); 0: none.
    std::uint64_t last = 0;   ///< The greatest number it has ever had.
    std::deque<Entry> entries;
    std::size_t dropped = 0;  ///< Entries with segment 0: the first and the last are none.
    std::uint64_t bytes = 0;  ///< Of heads and bodies.
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> groups;  ///< Numbers, in order.

    const Entry* find(std::uint64_t number) const;
    Entry* find(std::uint64_t number) { return const_cast<Entry*>(std::as_const(*this).find(number)); }
  };

  /// Enters an item that lies in this place; the latest place of an item counts.
  void apply(const Record& record);
  /// Forgets streams without declarations, once all is applied. The names of the damaged ones.
  std::vector<StreamId> drop_undeclared();
  /// Is this place needed still? Not for items of damaged segments. `leaving` is to be given back.
  bool is_live(const Record& record, std::uint64_t leaving) const;

  void add_segment(std::uint64_t number, Segment segment) { segments_[number] = std::move(segment); }
  void remove_segment(std::uint64_t number);
  const std::map<std::uint64_t, Segment>& segments() const { return segments_; }
  Segment& segment(std::uint64_t number) { return segments_.at(number); }
  /// Of the segment that has this batch, or 0.
  std::uint64_t segment_of(BatchNumber batch) const;

  const std::map<StreamId, Stream>& streams() const { return streams_; }
  const Stream* find(StreamId stream) const;
  StreamId last_stream() const { return last_stream_; }
  /// Where the newest record_segments lies; segment 0: nowhere.
  const Place& segments_record() const { return segments_record_; }
  BatchNumber batch_of(const Place& place) const { return segments_.at(place.segment).first + place.batch; }
  /// The entries that lie in a segment.
  std::vector<std::pair<StreamId, Entry>> entries_in(std::uint64_t segment) const;

 private:
  Stream& stream(StreamId id);
  void apply_stream(const Record& record);
  void apply_item(const Record& record);
  void insert(Stream& stream, const Record& record);
  void apply_drop_below(const Record& record);
  void apply_drop(const Record& record);
  void apply_end(const Record& record);
  void forget(Stream& stream, Entry& entry);
  static void trim(Stream& stream);
  void add_live(const Place& place);
  void remove_live(const Place& place);

  std::map<std::uint64_t, Segment> segments_;
  std::map<StreamId, Stream> streams_;
  std::set<StreamId> ended_;
  StreamId last_stream_ = 0;
  Place segments_record_;
};

}  // namespace llamada::store
