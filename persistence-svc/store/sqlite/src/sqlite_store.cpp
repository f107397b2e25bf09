#include "llamada/store_sqlite/sqlite_store.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "llamada/base/clock.hpp"
#include "llamada/store/files.hpp"
#include "llamada/store/segment_store.hpp"
#include "sqlite_store_impl.hpp"

namespace llamada::store {

namespace {

constexpr const char* tables = R"(
CREATE TABLE IF NOT EXISTS store (format INTEGER, written INTEGER, synced INTEGER, last_stream INTEGER);
CREATE TABLE IF NOT EXISTS streams (id INTEGER PRIMARY KEY, name TEXT, description BLOB, last INTEGER);
CREATE TABLE IF NOT EXISTS items (stream INTEGER, number INTEGER, "group" INTEGER, kind INTEGER, flags INTEGER,
  time_ns INTEGER, head BLOB, body BLOB, crc INTEGER, PRIMARY KEY (stream, number));
CREATE INDEX IF NOT EXISTS items_of_groups ON items (stream, "group", number);
CREATE VIEW IF NOT EXISTS contents AS SELECT streams.name AS stream, number, "group",
  datetime(time_ns / 1000000000, 'unixepoch') AS time, kind, length(head) AS head_bytes,
  length(body) AS body_bytes, body FROM items JOIN streams ON streams.id = items.stream ORDER BY streams.id, number;
INSERT INTO store SELECT 1, 0, 0, 0 WHERE NOT EXISTS (SELECT * FROM store);
)";

constexpr std::int64_t format = 1;

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& directory, SqliteOptions options) {
  auto files = open_files(directory, !options.read_only);
  if (!files) return propagate(files);
  return SqliteStore::open(std::move(*files), std::move(options));
}

Result<std::unique_ptr<Store>> SqliteStore::open(std::unique_ptr<Files> files, SqliteOptions options) {
  auto names = files->list();
  if (!names) return propagate(names);
  if (std::ranges::any_of(*names, [](const std::string& name) { return name.ends_with(".seg"); }))
    return failure(Errc::parse_error, "{} holds a store of segments, not of SQLite", files->name());
  if (options.read_only && std::ranges::find(*names, sqlite_file) == names->end())
    return failure(Errc::not_found, "there is no store in {}", files->name());
  if (!options.read_only)
    if (auto locked = files->lock(); !locked) return propagate(locked);
  auto store = std::make_unique<SqliteStore>(std::move(files), std::move(options));
  const auto found = store->open_database();
  if (!found) return tl::unexpected<Error>(found.error());
  store->written_ = *found;
  store->synced_ = store->options_.read_only ? 0 : *found;
  store->must_reopen_ = false;
  if (auto known = store->load_catalogue(); !known) return propagate(known);
  return store;
}

SqliteStore::SqliteStore(std::unique_ptr<Files> files, SqliteOptions options)
    : files_(std::move(files)), options_(std::move(options)) {}

SqliteStore::~SqliteStore() {
  if (database_.is_open() && !options_.read_only && !must_reopen_) (void)database_.checkpoint();
}

/// The last batch that it has.
Result<BatchNumber> SqliteStore::open_database() {
  // After a failed sync nothing may write what the log has into the database, closing it neither.
  must_reopen_ = true;
  auto database = Database::open(files_->name() + "/" + sqlite_file, options_.read_only);
  if (!database) return propagate(database);
  database_ = std::move(*database);
  if (!options_.read_only) {
    if (auto made = database_.run(tables); !made) return propagate(made);
    // What a process before has written counts from here on, and SQLite has checked it: written once more, it
    // is durable, even if that process has failed to sync it.
    if (auto done = make_durable(); !done) return propagate(done);
  }
  const auto found = database_.number("SELECT format FROM store");
  if (!found) return tl::unexpected<Error>(found.error());
  if (*found != format)
    return failure(Errc::parse_error, "{} has format {}; this release knows {}", database_.path(), *found,
                   format);
  const auto written = database_.number("SELECT written FROM store");
  if (!written) return tl::unexpected<Error>(written.error());
  return static_cast<BatchNumber>(*written);
}

Status SqliteStore::make_durable() {
  if (auto done = database_.checkpoint(); !done) return done;
  if (auto done = commit_durably(); !done) return done;
  return files_->sync_directory();
}

/// A transaction after which the log, and with it all transactions before, is on the disk.
Status SqliteStore::commit_durably() {
  if (auto set = database_.run("PRAGMA synchronous = FULL"); !set) return set;
  Status done = database_.run("UPDATE store SET synced = written");
  if (auto set = database_.run("PRAGMA synchronous = NORMAL"); done && !set) done = set;
  return done;
}

Status SqliteStore::load_catalogue() {
  catalogue_ = {};
  auto streams = database_.prepare("SELECT id, name, last FROM streams ORDER BY id");
  if (!streams) return propagate(streams);
  int code;
  while ((code = streams->step()) == SQLITE_ROW)
    catalogue_.declare(static_cast<StreamId>(streams->integer(0)), streams->text(1),
                       static_cast<std::uint64_t>(streams->integer(2)));
  if (code != SQLITE_DONE) return tl::unexpected<Error>(database_.error(code));
  const auto last = database_.number("SELECT last_stream FROM store");
  if (!last) return tl::unexpected<Error>(last.error());
  catalogue_.pass_over(static_cast<StreamId>(*last));
  return {};
}

Status SqliteStore::may_change() const {
  if (options_.read_only) return failure(Errc::unsupported, "{} was opened to be read only", files_->name());
  return {};
}

Result<StreamId> SqliteStore::stream(std::string_view name, std::span<const std::byte> description) {
  const std::lock_guard lock(mutex_);
  if (const auto known = catalogue_.find(name)) return *known;
  if (auto may = may_change(); !may) return propagate(may);
  if (auto checked = Catalogue::check_declaration(name, description); !checked) return propagate(checked);
  const StreamId id = catalogue_.next();
  catalogue_.declare(id, name);
  open_.emplace_back(Declaration{id, std::string(name), {description.begin(), description.end()}});
  return id;
}

Status SqliteStore::append(const Item& item) {
  const std::lock_guard lock(mutex_);
  if (auto may = may_change(); !may) return may;
  if (auto checked = catalogue_.check(item); !checked) return checked;
  if (item.number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return failure(Errc::invalid_argument, "{}: item {} has a greater number than SQLite knows",
                   files_->name(), item.number);
  const std::uint64_t bytes = item.head.size() + item.body.size();
  if (open_bytes_ > 0 && open_bytes_ + bytes > options_.batch_bytes_max)
    return batch_is_full(options_.batch_bytes_max);
  catalogue_.appended(item.stream, item.number);
  open_.emplace_back(KeptItem(item));
  open_bytes_ += bytes;
  return {};
}

Status SqliteStore::drop_below(StreamId stream, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  auto changed = change(stream, Drop{stream, 0, number == 0 ? 0 : number - 1});
  if (changed) catalogue_.dropped_below(stream, number);
  return changed;
}

Status SqliteStore::drop(StreamId stream, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return change(stream, Drop{stream, number, number});
}

Status SqliteStore::end(StreamId stream) {
  const std::lock_guard lock(mutex_);
  auto ended = change(stream, End{stream});
  if (ended) catalogue_.end(stream);
  return ended;
}

Status SqliteStore::change(StreamId stream, Change change) {
  if (auto may = may_change(); !may) return may;
  if (auto checked = catalogue_.check(stream); !checked) return checked;
  open_.push_back(std::move(change));
  return {};
}

std::vector<StreamInfo> SqliteStore::streams() const {
  const std::lock_guard lock(mutex_);
  std::vector<StreamInfo> all;
  auto query = database_.prepare(
      "SELECT id, name, description, min(number), max(number), count(number), "
      "total(length(head) + length(body)) FROM streams LEFT JOIN items ON id = stream GROUP BY id ORDER BY "
      "id");
  int code = SQLITE_ERROR;
  while (query && (code = query->step()) == SQLITE_ROW) {
    const auto description = query->bytes(2);
    all.push_back({.id = static_cast<StreamId>(query->integer(0)),
                   .name = query->text(1),
                   .description = {description.begin(), description.end()},
                   .first = static_cast<std::uint64_t>(query->integer(3)),
                   .last = static_cast<std::uint64_t>(query->integer(4)),
                   .items = static_cast<std::uint64_t>(query->integer(5)),
                   .bytes = static_cast<std::uint64_t>(query->integer(6)),
                   .used = catalogue_.last_number(static_cast<StreamId>(query->integer(0)))});
  }
  if (code != SQLITE_DONE) {
    ++figures_.damaged_batches;
    say(fmt::format("the list of streams cannot be read: {}", database_.error(code).text()));
  }
  return all;
}

StoreFigures SqliteStore::figures() const {
  const std::lock_guard lock(mutex_);
  StoreFigures figures = figures_;
  std::error_code ignored;
  for (const char* suffix : {"", "-wal"}) {
    const auto bytes = std::filesystem::file_size(database_.path() + suffix, ignored);
    if (!ignored) figures.bytes += bytes;
  }
  const auto number = [&](const char* sql) {
    const auto found = database_.number(sql);
    return found ? static_cast<std::uint64_t>(*found) : 0;
  };
  const std::uint64_t page = number("PRAGMA page_size"), unused = number("PRAGMA freelist_count");
  figures.live_bytes = (number("PRAGMA page_count") - unused) * page;
  figures.free_ahead_bytes = unused * page;
  figures.written = written_;
  figures.synced = synced_;
  return figures;
}

void SqliteStore::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

}  // namespace llamada::store
