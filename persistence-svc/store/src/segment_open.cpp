#include <fcntl.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "segment_store_impl.hpp"

namespace llamada::store {

namespace {

constexpr const char* store_file = "store";

}  // namespace

Result<std::unique_ptr<Store>> open_segment_store(const std::string& directory, SegmentOptions options) {
  auto files = open_files(directory, !options.read_only);
  if (!files) return propagate(files);
  if ((*files)->open(sqlite_file, Files::Open::to_read))
    return failure(Errc::parse_error, "{} holds a store of SQLite, not of segments", (*files)->name());
  return SegmentStore::open(std::move(*files), std::move(options));
}

Result<std::unique_ptr<Store>> open_segment_store(std::unique_ptr<Files> files, SegmentOptions options) {
  return SegmentStore::open(std::move(files), std::move(options));
}

Status remove_store(const std::string& directory) {
  auto files = open_files(directory, false);
  if (!files) return propagate(files);
  if (auto locked = (*files)->lock(); !locked) return locked;
  auto names = (*files)->list();
  if (!names) return propagate(names);
  // The file that says what this is goes last.
  std::ranges::sort(*names);
  for (const std::string& name : *names)
    if (segment_number(name) || name == store_file || name.starts_with(sqlite_file))
      if (auto removed = (*files)->remove(name); !removed) return removed;
  std::error_code not_empty;
  std::filesystem::remove(directory, not_empty);
  return {};
}

Result<std::unique_ptr<Store>> SegmentStore::open(std::unique_ptr<Files> files, SegmentOptions options) {
  auto store = std::make_unique<SegmentStore>(std::move(files), std::move(options));
  if (auto opened = store->open_store(); !opened) return propagate(opened);
  return store;
}

SegmentStore::SegmentStore(std::unique_ptr<Files> files, SegmentOptions options)
    : files_(std::move(files)), options_(std::move(options)) {
  if (options_.clock == nullptr) options_.clock = &system_clock_;
}

SegmentStore::~SegmentStore() {
  if (options_.read_only) return;
  // A footer makes the next start short. It would be read in vain while anything is not durable.
  if (synced_ == written_) seal_active();
  for (const Spare& spare : spares_) (void)files_->remove(segment_name(spare.number));
}

Status SegmentStore::open_store() {
  if (!options_.read_only)
    if (auto locked = files_->lock(); !locked) return locked;
  if (auto found = find_store(); !found) return found;
  LLAMADA_CRASH_POINT("store:found");
  auto leftover = load();
  if (!leftover) return propagate(leftover);
  if (options_.read_only) return {};
  if (!unsynced_.empty()) {
    // What was written and not synced before may be in the kernel's memory only; from here on it counts.
    LLAMADA_CRASH_POINT("store:loaded");
    directory_changed_ = true;
    if (auto rewritten = rewrite_unsynced(); !rewritten) return rewritten;
    if (auto synced = sync(written_); !synced) return synced;
  }
  // Not before: the list that does without a segment, and the copies of its items, may have been such
  // batches.
  remove_leftover(*leftover);
  return {};
}

/// Writes each batch that is not durable once more, to its place. After a failed sync in a process that then
/// died, the kernel has these bytes, takes them for written, and would leave them out of the next sync.
Status SegmentStore::rewrite_unsynced() {
  std::vector<std::byte> bytes;
  std::uint64_t segment = 0;
  for (const UnsyncedBatch& batch : unsynced_) {
    File& file = *index_.segment(batch.segment).file;
    for (const auto& [offset, count] : {std::pair<std::uint64_t, std::uint64_t>{0, sizeof(SegmentHeader)},
                                        std::pair{batch.offset, batch.bytes}}) {
      if (offset == 0 && batch.segment == segment) continue;
      bytes.resize(count);
      if (auto read = read_all(file, offset, bytes); !read) return read;
      if (auto written = file.write(offset, bytes); !written) return heal(written.error());
    }
    segment = batch.segment;
  }
  return {};
}

/// The id of the store, which is made if the directory has none.
Status SegmentStore::find_store() {
  StoreHeader header{};
  auto file = files_->open(store_file, options_.read_only ? Files::Open::to_read : Files::Open::to_write);
  if (!file && file.error().code() != Errc::not_found) return propagate(file);
  if (file) {
    const auto count = (*file)->read(0, std::as_writable_bytes(std::span(&header, 1)));
    if (!count) return tl::unexpected<Error>(count.error());
    if (*count == sizeof header && is_good(header)) {
      id_ = header.store;
      if (options_.read_only) return {};
      // A process that was killed may have written it and not synced it, or have failed to.
      if (auto written = (*file)->write(0, plain_bytes(header)); !written) return written;
      if (auto synced = (*file)->sync(); !synced) return synced;
      return files_->sync_directory();
    }
  }
  auto known = store_of_segments();
  if (!known) return propagate(known);
  if (*known) {
    id_ = **known;
    say(fmt::format("{}/{} is damaged; its contents are read from the segments instead", files_->name(),
                    store_file));
  }
  if (options_.read_only && !*known)
    return failure(Errc::not_found, "there is no store in {}", files_->name());
  if (options_.read_only) return {};
  if (!*known && getrandom(id_.data(), id_.size(), 0) != static_cast<ssize_t>(id_.size()))
    return system_failure("getrandom");
  if (!file) file = files_->open(store_file, Files::Open::to_create);
  if (!file) return propagate(file);
  header = make_store_header(id_);
  if (auto written = (*file)->write(0, plain_bytes(header)); !written) return written;
  LLAMADA_CRASH_POINT("store:named");
  if (auto synced = (*file)->sync(); !synced) return synced;
  return files_->sync_directory();
}

/// Whose segments lie in the directory; nothing if no segment was ever used. A new id beside segments that do
/// not tell theirs would lose them, so that is an error.
Result<std::optional<StoreId>> SegmentStore::store_of_segments() {
  auto names = files_->list();
  if (!names) return propagate(names);
  bool has_used_segment = false;
  for (const std::string& name : *names) {
    if (!segment_number(name)) continue;
    auto file = files_->open(name, Files::Open::to_read);
    if (!file) return propagate(file);
    SegmentHeader header{};
    const auto count = (*file)->read(0, std::as_writable_bytes(std::span(&header, 1)));
    if (!count) return tl::unexpected<Error>(count.error());
    if (*count == sizeof header && is_good(header)) return std::optional(header.store);
    has_used_segment = has_used_segment || !is_zero(plain_bytes(header));
  }
  if (has_used_segment)
    return failure(Errc::parse_error,
                   "{0}: the file {1} and the headers of all segments are damaged, so nothing tells which "
                   "store this is; nothing was changed: put {1} back from a copy of this directory, or move "
                   "the directory away to begin a new store",
                   files_->name(), store_file);
  return std::optional<StoreId>();
}

/// Files that can go once all that was loaded is durable.
Result<std::vector<std::string>> SegmentStore::load() {
  auto loaded = load_segments(*files_, id_, 0, options_.read_only);
  if (!loaded) return propagate(loaded);
  for (const std::string& sentence : loaded->sentences) say(sentence);
  figures_.torn_batches = loaded->torn_batches;
  figures_.damaged_batches = loaded->damaged_batches;
  figures_.damaged_items = loaded->damaged_items;
  std::vector<std::string> leftover = std::move(loaded->leftover);
  const std::vector<std::uint64_t> unsealed = std::move(loaded->unsealed);
  take(std::move(*loaded));
  if (!options_.read_only)
    for (const std::uint64_t number : unsealed) shorten(number);
  for (const auto& [id, stream] : index_.streams()) catalogue_.declare(id, stream.name, stream.last);
  catalogue_.pass_over(index_.last_stream());
  return leftover;
}

void SegmentStore::take(LoadedStore loaded) {
  index_ = std::move(loaded.index);
  written_ = std::max(written_, loaded.written);
  synced_ = std::min(std::max(synced_, loaded.synced), written_);
  next_segment_ = std::max(next_segment_, loaded.next_segment);
  unsynced_.clear();
  held_ = 0;
  held_bytes_ = 0;
  for (UnsyncedBatch& batch : loaded.unsynced) unsynced_.push_back(std::move(batch));
  cleaning_ = {};
}

/// Gives back what was allocated for more batches: they go into another segment.
void SegmentStore::shorten(std::uint64_t number) {
  Segment& segment = index_.segment(number);
  if (segment.bytes <= segment.end) return;
  LLAMADA_CRASH_POINT("store:shortened");
  if (segment.file->truncate(segment.end)) segment.bytes = segment.end;
}

void SegmentStore::remove_leftover(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    LLAMADA_CRASH_POINT("store:leftover");
    if (auto removed = files_->remove(name); !removed) say(removed.error().text());
  }
}

}  // namespace llamada::store
