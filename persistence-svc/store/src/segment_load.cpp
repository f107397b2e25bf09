#include "segment_load.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "llamada/base/crc32c.hpp"

namespace llamada::store {

namespace {

constexpr BatchNumber no_batch = std::numeric_limits<BatchNumber>::max();

struct Candidate {
  std::uint64_t number = 0;
  std::shared_ptr<File> file;
  std::uint64_t bytes = 0;
  BatchNumber first = 0;  ///< 0: its header is damaged.
  std::optional<Seal> seal;
  std::optional<SegmentScan> scan;
  BatchNumber limit = no_batch;  ///< Batches from here on are in later segments, or nowhere.
};

/// What only the newest list of segments says, which is known once all has been loaded.
struct Corrections {
  std::set<std::uint64_t> gone;                ///< Segments that do not count, though their files are there.
  std::map<std::uint64_t, BatchNumber> lasts;  ///< The last batch that counts, of segments that have more.
};

class Loader {
 public:
  Loader(Files& files, const StoreId& store, BatchNumber synced, bool read_only)
      : files_(files), store_(store), read_only_(read_only) {
    loaded_.synced = synced;
  }

  Result<LoadedStore> load(const Corrections& known) {
    if (auto opened = open_all(known.gone); !opened) return propagate(opened);
    if (auto scanned = scan_what_is_not_sealed(); !scanned) return propagate(scanned);
    set_limits(known.lasts);
    cut();
    for (Candidate& each : candidates_)
      if (auto entered = enter(each); !entered) return propagate(entered);
    // The numbers of batches that were damaged are not used again.
    loaded_.written = std::max(loaded_.written, loaded_.synced);
    for (const StreamId lost : loaded_.index.drop_undeclared())
      fault(
          fmt::format("{}: the name of stream {} is damaged; its items cannot be read", files_.name(), lost));
    return std::move(loaded_);
  }

  /// What the newest list says against what was loaded; and says which segments are missing.
  Corrections check_list(LoadedStore& loaded) {
    Corrections found;
    check_numbers(loaded);
    if (list_in_ == 0) return found;
    // The list may be empty: all that lives is behind it.
    const std::uint64_t newest = std::max(listed_.empty() ? 0 : listed_.rbegin()->first, list_in_ - 1);
    loaded.next_segment = std::max(loaded.next_segment, newest + 1);
    for (const auto& [number, segment] : loaded.index.segments()) {
      const auto listed = listed_.find(number);
      if (listed != listed_.end() && listed->second != 0 && segment.last > listed->second)
        found.lasts.emplace(number, listed->second);
      if (listed == listed_.end() && number <= newest) found.gone.insert(number);
    }
    for (const auto& [number, last] : listed_)
      if (!seen_.contains(number))
        loaded.sentences.push_back(
            fmt::format("{}/{} is missing; the items in it are lost", files_.name(), segment_name(number)));
    return found;
  }

 private:
  /// Batches that were written after the newest list are all there.
  void check_numbers(LoadedStore& loaded) const {
    BatchNumber expected = 1;
    for (const auto& [number, segment] : loaded.index.segments()) {
      if (segment.last < segment.first) continue;
      if (segment.first > expected && segment.first - 1 > listed_through_) {
        const BatchNumber from = std::max(expected, listed_through_ + 1);
        loaded.damaged_batches += segment.first - from;
        loaded.sentences.push_back(
            fmt::format("{}: batches {} to {} before {} are missing; their items are lost", files_.name(),
                        from, segment.first - 1, segment_name(number)));
      }
      expected = std::max(expected, segment.last + 1);
    }
  }

  Status open_all(const std::set<std::uint64_t>& gone) {
    auto names = files_.list();
    if (!names) return propagate(names);
    std::vector<std::uint64_t> numbers;
    for (const std::string& name : *names)
      if (const auto number = segment_number(name)) numbers.push_back(*number);
    std::ranges::sort(numbers);
    for (const std::uint64_t number : numbers) {
      loaded_.next_segment = std::max(loaded_.next_segment, number + 1);
      if (gone.contains(number)) {
        loaded_.leftover.push_back(segment_name(number));
        continue;
      }
      seen_.insert(number);
      if (auto opened = open(segment_name(number), number); !opened) return opened;
    }
    return {};
  }

  Status open(const std::string& name, std::uint64_t number) {
    auto file = files_.open(name, read_only_ ? Files::Open::to_read : Files::Open::to_write);
    // Given back since it was listed, by the process that writes the store.
    if (!file && read_only_ && file.error().code() == Errc::not_found) return {};
    if (!file) return propagate(file);
    Candidate candidate{.number = number, .file = std::move(*file)};
    auto size = candidate.file->size();
    if (!size) return propagate(size);
    candidate.bytes = *size;
    std::array<std::byte, segment_header_bytes> bytes{};
    const auto count = candidate.file->read(0, bytes);
    if (!count) return tl::unexpected<Error>(count.error());
    SegmentHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (is_zero(std::span(bytes).first(sizeof header))) {
      // Allocated and never used, or all of it lost with the power: nothing in it was ever durable.
      loaded_.leftover.push_back(name);
      return {};
    }
    if (is_good(header) && header.store != store_) {
      fault(fmt::format("{}/{} belongs to another store and is passed over", files_.name(), name));
      return {};
    }
    if (is_good(header) && header.number == number) candidate.first = header.first;
    if (candidate.first == 0)
      fault(
          fmt::format("{}/{}: the header is damaged; its batches are read without it", files_.name(), name));
    take_seal(bytes, candidate);
    candidates_.push_back(std::move(candidate));
    return {};
  }

  void take_seal(std::span<const std::byte> bytes, Candidate& candidate) const {
    Seal seal;
    std::memcpy(&seal, bytes.data() + seal_offset, sizeof seal);
    const bool fits =
        is_good(seal) && seal.segment == candidate.number && seal.tag == tag_of(store_) &&
        seal.footer_offset <= candidate.bytes && candidate.bytes - seal.footer_offset >= footer_mark.size() &&
        seal.entries <= (candidate.bytes - seal.footer_offset - footer_mark.size()) / sizeof(FooterEntry);
    if (fits && candidate.first != 0 && seal.last + 1 >= candidate.first) candidate.seal = seal;
  }

  /// A footer is believed of batches that are known to be durable. It may know items of one that is damaged.
  Status scan_what_is_not_sealed() {
    for (const Candidate& each : candidates_)
      if (each.seal) loaded_.synced = std::max(loaded_.synced, each.seal->synced);
    for (Candidate& each : candidates_)
      if (!each.seal)
        if (auto scanned = scan(each); !scanned) return scanned;
    for (auto each = candidates_.rbegin(); each != candidates_.rend(); ++each)
      if (!each->scan && each->seal->last > loaded_.synced)
        if (auto scanned = scan(*each); !scanned) return scanned;
    return {};
  }

  Status scan(Candidate& candidate) {
    auto found = scan_segment(*candidate.file, candidate.bytes, candidate.number, tag_of(store_));
    if (!found) return propagate(found);
    for (const FoundBatch& batch : found->batches) loaded_.synced = std::max(loaded_.synced, batch.synced);
    if (candidate.first == 0 && !found->batches.empty()) candidate.first = found->batches.front().number;
    candidate.scan = std::move(*found);
    return {};
  }

  void set_limits(const std::map<std::uint64_t, BatchNumber>& lasts) {
    BatchNumber limit = no_batch;
    for (auto each = candidates_.rbegin(); each != candidates_.rend(); ++each) {
      const auto last = lasts.find(each->number);
      each->limit = last == lasts.end() ? limit : std::min(limit, last->second + 1);
      if (each->first != 0) limit = std::min(limit, each->first);
    }
  }

  /// Of what was never durable, all counts up to the first batch that is missing or torn.
  void cut() {
    BatchNumber expected = loaded_.synced + 1, cut = no_batch;
    bool damage_before = false;
    for (const Candidate& each : candidates_) {
      if (!each.scan) continue;
      for (const FoundBatch& batch : each.scan->batches) {
        if (batch.number >= each.limit || batch.number < expected) continue;
        const bool missing = batch.number > expected && !batch.after_damage && !damage_before;
        if (cut == no_batch && (missing || batch.state == FoundBatch::State::torn)) cut = expected;
        if (cut != no_batch) ++loaded_.torn_batches;
        damage_before = false;
        expected = batch.number + 1;
      }
      damage_before = damage_before || each.scan->ends_damaged;
    }
    for (Candidate& each : candidates_) each.limit = std::min(each.limit, cut);
  }

  Status enter(Candidate& candidate) {
    if (candidate.first == 0) return {};
    Segment segment{.file = candidate.file,
                    .first = candidate.first,
                    .last = candidate.first - 1,
                    .end = segment_header_bytes,
                    .bytes = candidate.bytes};
    loaded_.index.add_segment(candidate.number, std::move(segment));
    BatchNumber entered_through = 0;
    if (candidate.seal) {
      const BatchNumber limit =
          candidate.scan ? std::min(candidate.limit, loaded_.synced + 1) : candidate.limit;
      auto entered = enter_footer(candidate, limit);
      if (!entered) return propagate(entered);
      if (*entered && !candidate.scan) return {};
      if (*entered) entered_through = limit - 1;
    }
    if (!candidate.scan)
      if (auto scanned = scan(candidate); !scanned) return scanned;
    return enter_scan(candidate, entered_through);
  }

  /// The batches before `limit`. False if the footer is not what was written: nobody waits until it is
  /// durable.
  Result<bool> enter_footer(Candidate& candidate, BatchNumber limit) {
    const Seal& seal = *candidate.seal;
    std::vector<FooterEntry> entries(seal.entries);
    const auto bytes = std::as_writable_bytes(std::span(entries));
    if (auto read = read_all(*candidate.file, seal.footer_offset + footer_mark.size(), bytes); !read)
      return propagate(read);
    const auto lies_in_it = [&](const FooterEntry& entry) {
      return entry.bytes >= sizeof(ItemHeader) && candidate.first + entry.batch <= seal.last &&
             std::uint64_t{entry.unit} * item_alignment + entry.bytes <= seal.footer_offset;
    };
    if (crc32c(bytes) != seal.footer_crc || !std::ranges::all_of(entries, lies_in_it)) return false;
    came_to(candidate, std::min(seal.last, limit - 1), seal.footer_offset);
    std::vector<std::byte> memory;
    for (const FooterEntry& entry : entries) {
      Record record{
          .kind = entry.kind,
          .stream = entry.stream,
          .number = entry.number,
          .group = entry.group,
          .place = {static_cast<std::uint32_t>(candidate.number), entry.unit, entry.bytes, entry.batch}};
      if (candidate.first + entry.batch >= limit) continue;
      if (entry.kind == record_stream || entry.kind == record_segments) {
        memory.resize(entry.bytes);
        if (auto read = read_all(*candidate.file, record.place.offset(), memory); !read)
          return propagate(read);
        const auto item = item_at(memory, 0);
        if (item && item->is_whole()) {
          apply(record, *item);
        } else {
          damaged_record(candidate, entry.kind);
        }
        continue;
      }
      loaded_.index.apply(record);
    }
    return true;
  }

  /// The footer has entered the items of batches up to `entered_through`.
  Status enter_scan(Candidate& candidate, BatchNumber entered_through) {
    std::vector<std::byte> memory;
    BatchNumber expected = std::max(candidate.first, entered_through + 1);
    for (const FoundBatch& batch : candidate.scan->batches) {
      if (batch.number <= entered_through) came_to(candidate, batch.number, batch.offset + batch.bytes);
      if (batch.number < expected || batch.number >= candidate.limit) continue;
      if (batch.number > expected) missing(candidate, expected, batch.number - 1);
      expected = batch.number + 1;
      memory.resize(batch.bytes);
      if (auto read = read_all(*candidate.file, batch.offset, memory); !read) return read;
      came_to(candidate, batch.number, batch.offset + batch.bytes);
      enter_batch(candidate, batch, memory);
      if (batch.number > loaded_.synced)
        loaded_.unsynced.push_back({batch.number, candidate.number, batch.offset, batch.bytes, {}});
    }
    if (!candidate.seal && !candidate.scan->ends_damaged) loaded_.unsealed.push_back(candidate.number);
    if (candidate.scan->ends_damaged && candidate.limit == no_batch) {
      ++loaded_.damaged_batches;
      fault(fmt::format("{}: the bytes behind batch {} are damaged; if they were a batch, its items are lost",
                        name_of(candidate), expected - 1));
    }
    return {};
  }

  void enter_batch(Candidate& candidate, const FoundBatch& batch, std::span<const std::byte> memory) {
    if (batch.state != FoundBatch::State::whole) {
      if (!batch.heads_are_good) ++loaded_.damaged_batches;
      fault(fmt::format("{}: batch {} is damaged; {}", name_of(candidate), batch.number,
                        batch.heads_are_good ? "its damaged items cannot be read"
                                             : "its items from the first damaged one on are lost"));
    }
    ItemWalk walk(memory.subspan(sizeof(BatchHeader)));
    while (const auto item = walk.next()) {
      const bool is_whole = batch.state == FoundBatch::State::whole || item->is_whole();
      if (!is_whole && !batch.heads_are_good) return;
      if (!is_whole) ++loaded_.damaged_items;
      if (!is_whole && (item->header.kind == record_stream || item->header.kind == record_segments)) {
        damaged_record(candidate, item->header.kind);
        continue;
      }
      const std::uint64_t offset = batch.offset + sizeof(BatchHeader) + item->offset;
      apply({.kind = item->header.kind,
             .stream = item->header.stream,
             .number = item->header.number,
             .group = item->header.group,
             .place = {static_cast<std::uint32_t>(candidate.number),
                       static_cast<std::uint32_t>(offset / item_alignment),
                       static_cast<std::uint32_t>(item->header.bytes()),
                       static_cast<std::uint32_t>(batch.number - candidate.first)}},
            *item);
    }
  }

  void apply(Record record, const StoredItem& item) {
    record.head = item.head;
    record.body = item.body;
    loaded_.index.apply(record);
    if (record.kind != record_segments) return;
    listed_.clear();
    const bool has_lasts = (item.header.flags & list_has_last_batches) != 0;
    const std::size_t entry_bytes = has_lasts ? sizeof(ListedSegment) : sizeof(ListedSegment::number);
    for (std::size_t at = 0; at + entry_bytes <= item.body.size(); at += entry_bytes) {
      ListedSegment listed;
      std::memcpy(&listed, item.body.data() + at, entry_bytes);
      listed_.emplace(listed.number, listed.last);
    }
    list_in_ = record.place.segment;
    listed_through_ = loaded_.written;
  }

  void came_to(const Candidate& candidate, BatchNumber batch, std::uint64_t end) {
    Segment& segment = loaded_.index.segment(candidate.number);
    segment.last = std::max(segment.last, batch);
    segment.end = end;
    loaded_.written = std::max(loaded_.written, batch);
  }

  void missing(const Candidate& candidate, BatchNumber from, BatchNumber to) {
    loaded_.damaged_batches += to - from + 1;
    fault(
        fmt::format("{}: batches {} to {} are damaged; their items are lost", name_of(candidate), from, to));
  }

  void damaged_record(const Candidate& candidate, std::uint8_t kind) {
    fault(fmt::format("{}: {} is damaged", name_of(candidate),
                      kind == record_stream ? "the declaration of a stream" : "the list of segments"));
  }

  void fault(std::string sentence) { loaded_.sentences.push_back(std::move(sentence)); }
  std::string name_of(const Candidate& candidate) const {
    return files_.name() + "/" + segment_name(candidate.number);
  }

  Files& files_;
  StoreId store_;
  bool read_only_;
  LoadedStore loaded_;
  std::vector<Candidate> candidates_;
  std::set<std::uint64_t> seen_;                 ///< Segments that are there.
  std::map<std::uint64_t, BatchNumber> listed_;  ///< Those that the newest list has, with their last batches.
  std::uint64_t list_in_ = 0;                    ///< The segment in which that list lies; 0: there is none.
  BatchNumber listed_through_ = 0;
};

}  // namespace

Result<LoadedStore> load_segments(Files& files, const StoreId& store, BatchNumber synced, bool read_only) {
  Corrections known;
  while (true) {
    Loader loader(files, store, synced, read_only);
    auto loaded = loader.load(known);
    if (!loaded) return loaded;
    const Corrections more = loader.check_list(*loaded);
    if (more.gone.empty() && more.lasts.empty()) return loaded;
    known.gone.insert(more.gone.begin(), more.gone.end());
    known.lasts.insert(more.lasts.begin(), more.lasts.end());
  }
}

}  // namespace llamada::store
