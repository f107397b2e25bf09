#include <algorithm>

#include "llamada/base/rounding.hpp"
#include "segment_store_impl.hpp"

namespace llamada::store {

namespace {

/// How many segments must be free for data: one is left for what gives space back.
constexpr std::uint64_t spares_for_data = 2, spares_for_drops = 1;

constexpr std::uint64_t read_ahead_bytes = std::uint64_t{256} << 10;

}  // namespace

class SegmentStore::Window {
 public:
  explicit Window(const SegmentIndex& index) : index_(index) {}

  /// The item in this place; none if it is damaged. Valid until the next call.
  Result<std::optional<StoredItem>> item(const Place& place) {
    if (place.segment != segment_ || place.offset() < offset_ ||
        place.offset() + place.bytes > offset_ + bytes_.size())
      if (auto moved = move_to(place); !moved) return propagate(moved);
    if (place.offset() + place.bytes > offset_ + bytes_.size()) return std::optional<StoredItem>();
    auto item =
        item_at(std::span(bytes_).first(place.offset() - offset_ + place.bytes), place.offset() - offset_);
    if (!item || item->header.bytes() != place.bytes || !item->is_whole()) return std::optional<StoredItem>();
    return item;
  }

 private:
  Status move_to(const Place& place) {
    const Segment& segment = index_.segments().at(place.segment);
    const bool goes_on = place.segment == segment_ && place.offset() >= offset_;
    segment_ = place.segment;
    offset_ = place.offset();
    // The first read of a place is for it alone: newest() jumps.
    bytes_.resize(goes_on ? std::max<std::uint64_t>(place.bytes, read_ahead_bytes) : place.bytes);
    const auto count = segment.file->read(offset_, bytes_);
    if (!count) return tl::unexpected<Error>(count.error());
    bytes_.resize(*count);
    return {};
  }

  const SegmentIndex& index_;
  std::uint64_t segment_ = 0;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> bytes_;
};

Status SegmentStore::may_change() const {
  if (options_.read_only) return failure(Errc::unsupported, "{} was opened to be read only", files_->name());
  return {};
}

Status SegmentStore::add(const Item& item, std::uint64_t spares) {
  const std::uint64_t bytes = open_.bytes() + BatchBuilder::bytes_of(item);
  if (!open_.is_empty() && bytes > options_.batch_bytes_max) return batch_is_full(options_.batch_bytes_max);
  if (auto room = ensure_room(rounded_up(bytes, batch_alignment), spares); !room) return room;
  open_.add(item);
  return {};
}

Result<StreamId> SegmentStore::stream(std::string_view name, std::span<const std::byte> description) {
  const std::lock_guard lock(mutex_);
  if (const auto known = catalogue_.find(name)) return *known;
  if (auto may = may_change(); !may) return propagate(may);
  if (auto checked = Catalogue::check_declaration(name, description); !checked) return propagate(checked);
  const StreamId id = catalogue_.next();
  auto added =
      add({.stream = id, .kind = record_stream, .head = std::as_bytes(std::span(name)), .body = description},
          spares_for_data);
  if (!added) return propagate(added);
  catalogue_.declare(id, name);
  return id;
}

Status SegmentStore::append(const Item& item) {
  const std::lock_guard lock(mutex_);
  if (auto may = may_change(); !may) return may;
  if (auto checked = catalogue_.check(item); !checked) return checked;
  if (auto added = add(item, spares_for_data); !added) return added;
  catalogue_.appended(item.stream, item.number);
  return {};
}

Status SegmentStore::drop_below(StreamId stream, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (auto may = may_change(); !may) return may;
  if (auto checked = catalogue_.check(stream); !checked) return checked;
  auto added = add({.stream = stream, .number = number, .kind = record_drop_below}, spares_for_drops);
  if (added) catalogue_.dropped_below(stream, number);
  return added;
}

Status SegmentStore::drop(StreamId stream, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (auto may = may_change(); !may) return may;
  if (auto checked = catalogue_.check(stream); !checked) return checked;
  BatchNumber in = written_ + 1;  // the open batch
  if (const auto* known = index_.find(stream)) {
    const auto* entry = known->find(number);
    if (entry != nullptr && entry->place.segment == 0) return {};
    if (entry == nullptr && number <= known->last) return {};
    if (entry != nullptr) in = index_.batch_of(entry->place);
  }
  if (number > catalogue_.last_number(stream)) return {};
  return add({.stream = stream, .number = number, .group = in, .kind = record_drop}, spares_for_drops);
}

Status SegmentStore::end(StreamId stream) {
  const std::lock_guard lock(mutex_);
  if (auto may = may_change(); !may) return may;
  if (auto checked = catalogue_.check(stream); !checked) return checked;
  auto added = add({.stream = stream, .group = written_ + 1, .kind = record_end}, spares_for_drops);
  if (added) catalogue_.end(stream);
  return added;
}

Result<BatchNumber> SegmentStore::write() {
  const std::lock_guard lock(mutex_);
  if (open_.is_empty()) return written_;
  auto written = write_batch(open_);
  if (written) clean();
  return written;
}

Status SegmentStore::visit(const SegmentIndex::Stream& stream, StreamId id, const SegmentIndex::Entry& entry,
                           Window& window, const OnItem& on_item, const OnDamaged& on_damaged,
                           bool& goes_on) const {
  auto item = window.item(entry.place);
  if (!item) return propagate(item);
  const bool is_good = *item && (*item)->header.stream == id && (*item)->header.number == entry.number &&
                       (*item)->header.kind != record_lost;
  if (is_good) {
    goes_on = on_item((*item)->item());
    return {};
  }
  ++figures_.damaged_items;
  const std::string sentence =
      fmt::format("{}/{}: item {} of stream {} is damaged", files_->name(), segment_name(entry.place.segment),
                  entry.number, in_sentence(stream.name));
  say(sentence);
  if (!on_damaged) return failure(Errc::parse_error, "{}", sentence);
  on_damaged(entry.number);
  return {};
}

Status SegmentStore::read(StreamId id, std::uint64_t from, const OnItem& on_item,
                          const OnDamaged& on_damaged) const {
  const std::lock_guard lock(mutex_);
  const auto* stream = index_.find(id);
  if (stream == nullptr) return catalogue_.check(id);
  Window window(index_);
  bool goes_on = true;
  auto entry = std::ranges::lower_bound(stream->entries, from, {}, &SegmentIndex::Entry::number);
  for (; goes_on && entry != stream->entries.end(); ++entry) {
    if (entry->place.segment == 0) continue;
    if (auto visited = visit(*stream, id, *entry, window, on_item, on_damaged, goes_on); !visited)
      return visited;
  }
  return {};
}

Status SegmentStore::newest(StreamId id, std::uint64_t group, std::size_t count, const OnItem& on_item,
                            const OnDamaged& on_damaged) const {
  const std::lock_guard lock(mutex_);
  const auto* stream = index_.find(id);
  if (stream == nullptr) return catalogue_.check(id);
  std::vector<std::uint64_t> numbers;
  if (group == 0) {
    for (auto entry = stream->entries.rbegin(); entry != stream->entries.rend() && numbers.size() < count;
         ++entry)
      if (entry->place.segment != 0 && entry->group == 0) numbers.push_back(entry->number);
    std::ranges::reverse(numbers);
  } else if (const auto found = stream->groups.find(group); found != stream->groups.end()) {
    const auto& all = found->second;
    numbers.assign(all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end());
  }
  Window window(index_);
  bool goes_on = true;
  for (const std::uint64_t number : numbers) {
    if (!goes_on) break;
    if (auto visited = visit(*stream, id, *stream->find(number), window, on_item, on_damaged, goes_on);
        !visited)
      return visited;
  }
  return {};
}

std::vector<StreamInfo> SegmentStore::streams() const {
  const std::lock_guard lock(mutex_);
  std::vector<StreamInfo> all;
  for (const auto& [id, stream] : index_.streams()) {
    StreamInfo info{.id = id, .name = stream.name, .description = stream.description};
    if (!stream.entries.empty()) {
      info.first = stream.entries.front().number;
      info.last = stream.entries.back().number;
    }
    info.items = stream.entries.size() - stream.dropped;
    info.bytes = stream.bytes;
    info.used = catalogue_.last_number(id);
    all.push_back(std::move(info));
  }
  return all;
}

StoreFigures SegmentStore::figures() const {
  const std::lock_guard lock(mutex_);
  StoreFigures figures = figures_;
  for (const auto& [number, segment] : index_.segments()) {
    figures.bytes += segment.bytes;
    figures.live_bytes += segment.live_bytes;
  }
  figures.segments = index_.segments().size();
  figures.free_ahead_bytes = active_.room();
  for (const Spare& spare : spares_) {
    figures.bytes += spare.bytes;
    figures.free_ahead_bytes += spare.bytes;
  }
  figures.written = written_;
  figures.synced = synced_;
  return figures;
}

void SegmentStore::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

}  // namespace llamada::store
