#include "llamada/base/clock.hpp"
#include "sqlite_store_impl.hpp"

namespace llamada::store {

namespace {

/// The write-ahead log is written into the database when it is as long: 32 MiB.
constexpr int log_pages_max = 8192;

/// Batches that are not durable are kept in memory, for a sync may fail. More of them are synced before the
/// next one is written.
constexpr std::uint64_t held_bytes_max = std::uint64_t{64} << 20;

}  // namespace

Result<BatchNumber> SqliteStore::write() {
  const std::lock_guard lock(mutex_);
  if (must_reopen_ && !open_.empty())
    if (auto opened = reopen(Error(Errc::system, "an earlier call failed")); !opened)
      return propagate(opened);
  if (open_.empty()) return written_;
  if (held_bytes_ > held_bytes_max)
    if (auto done = sync_all(); !done) return propagate(done);
  if (auto written = write_batch(open_, written_ + 1); !written) {
    if (must_reopen_) tried_ = open_.size();
    return propagate(written);
  }
  was_written();
  // The batch is there. What this says is known when it matters: the next sync looks.
  if (database_.log_pages() > log_pages_max && !database_.checkpoint())
    must_reopen_ = has_failed_sync_ = true;
  return written_;
}

/// The open batch, or the part of it that was tried, is in the database.
void SqliteStore::was_written() {
  Held held{++written_, {}, open_bytes_};
  if (tried_ == 0 || tried_ == open_.size()) {
    held.changes = std::exchange(open_, {});
    open_bytes_ = 0;
  } else {
    const auto end = open_.begin() + static_cast<std::ptrdiff_t>(tried_);
    held.changes.assign(std::move_iterator(open_.begin()), std::move_iterator(end));
    open_.erase(open_.begin(), end);
  }
  tried_ = 0;
  held_bytes_ += held.bytes;
  held_.push_back(std::move(held));
}

Status SqliteStore::write_batch(const Changes& changes, BatchNumber number) {
  if (auto begun = database_.run("BEGIN IMMEDIATE"); !begun) return begun;
  Status done = apply_all(changes, number);
  if (done) {
    done = database_.run("COMMIT");
    // It may be in the log all the same, and a second try would be written upon it.
    must_reopen_ = must_reopen_ || (!done && !database_.has_failed_to_write());
  }
  if (!done) (void)database_.run("ROLLBACK");
  return done;
}

Status SqliteStore::apply_all(const Changes& changes, BatchNumber number) {
  for (const Change& each : changes)
    if (auto applied = std::visit([this](const auto& change) { return apply(change); }, each); !applied)
      return applied;
  auto counted = database_.prepare("UPDATE store SET written = ?");
  if (!counted) return propagate(counted);
  counted->bind(1, static_cast<std::int64_t>(number));
  return database_.finish(*counted);
}

Status SqliteStore::apply(const Declaration& declared) {
  auto insert = database_.prepare("INSERT INTO streams VALUES (?, ?, ?, 0)");
  if (!insert) return propagate(insert);
  insert->bind(1, std::int64_t{declared.stream});
  insert->bind(2, declared.name);
  insert->bind(3, declared.description);
  if (auto done = database_.finish(*insert); !done) return done;
  auto counted = database_.prepare("UPDATE store SET last_stream = max(last_stream, ?)");
  if (!counted) return propagate(counted);
  counted->bind(1, std::int64_t{declared.stream});
  return database_.finish(*counted);
}

Status SqliteStore::apply(const KeptItem& appended) {
  auto prepared = database_.prepared("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!prepared) return propagate(prepared);
  Statement* insert = *prepared;
  const Item item = appended.view();
  insert->bind(1, std::int64_t{item.stream});
  insert->bind(2, static_cast<std::int64_t>(item.number));
  insert->bind(3, static_cast<std::int64_t>(item.group));
  insert->bind(4, std::int64_t{item.kind});
  insert->bind(5, std::int64_t{item.flags});
  insert->bind(6, item.time_ns);
  insert->bind(7, item.head);
  insert->bind(8, item.body);
  insert->bind(9, std::int64_t{crc_of(item)});
  if (auto done = database_.finish(*insert); !done) return done;
  return reached(item.stream, item.number);
}

/// No smaller number can be appended any longer.
Status SqliteStore::reached(StreamId stream, std::uint64_t number) {
  auto prepared = database_.prepared("UPDATE streams SET last = max(last, ?) WHERE id = ?");
  if (!prepared) return propagate(prepared);
  Statement* update = *prepared;
  update->bind(1, bounded(number));
  update->bind(2, std::int64_t{stream});
  return database_.finish(*update);
}

Status SqliteStore::apply(const Drop& drop) {
  auto remove = database_.prepare("DELETE FROM items WHERE stream = ? AND number BETWEEN ? AND ?");
  if (!remove) return propagate(remove);
  remove->bind(1, std::int64_t{drop.stream});
  remove->bind(2, bounded(drop.first));
  remove->bind(3, bounded(drop.last));
  if (auto done = database_.finish(*remove); !done) return done;
  return drop.first == 0 ? reached(drop.stream, drop.last) : Status();
}

Status SqliteStore::apply(const End& end) {
  for (const char* sql : {"DELETE FROM items WHERE stream = ?", "DELETE FROM streams WHERE id = ?"}) {
    auto remove = database_.prepare(sql);
    if (!remove) return propagate(remove);
    remove->bind(1, std::int64_t{end.stream});
    if (auto done = database_.finish(*remove); !done) return done;
  }
  return {};
}

Status SqliteStore::sync(BatchNumber batch) {
  const std::lock_guard lock(mutex_);
  if (auto checked = check_batch(batch, written_); !checked) return checked;
  if (batch <= synced_) return {};
  if (auto may = may_change(); !may) return may;
  return sync_all();
}

Status SqliteStore::sync_all() {
  if (must_reopen_) return reopen(Error(Errc::system, "an earlier call failed"));
  const SystemClock clock;
  const auto began = clock.monotonic();
  auto done = commit_durably();
  figures_.last_sync_ns = static_cast<std::uint64_t>((clock.monotonic() - began).count());
  // Nothing has been synced for want of room: the log is as it was.
  if (!done && done.error().code() == Errc::out_of_resources) return done;
  if (!done) {
    has_failed_sync_ = true;
    return reopen(done.error());
  }
  synced();
  return {};
}

void SqliteStore::synced() {
  synced_ = written_;
  held_.clear();
  held_bytes_ = 0;
}

Status SqliteStore::reopen(const Error& why) {
  must_reopen_ = true;
  if (auto opened = open_again(); !opened)
    return tl::unexpected<Error>(
        Error(opened.error().code(),
              fmt::format("{}; opening it again fails: {}", why.text(), opened.error().text()),
              opened.error().system_errno()));
  must_reopen_ = false;
  if (!std::exchange(has_failed_sync_, false)) return {};
  ++figures_.failed_syncs;
  say(fmt::format("{}; all batches are there after opening it again", why.text()));
  return {};
}

/// After a failed sync the kernel may have forgotten what the log had, and a second sync would succeed
/// without it. SQLite checks the log when it opens it, if nobody else has it open, and the store writes what
/// it finds once more, into the database. Batches that it does not find are written again.
Status SqliteStore::open_again() {
  database_.close();
  if (Database::is_used_by_others(database_.path()))
    return failure(Errc::system,
                   "{}: another program has it open, so that SQLite does not check its log: end that program",
                   database_.path());
  const auto found = open_database();
  if (!found) return tl::unexpected<Error>(found.error());
  if (*found < synced_ || *found > written_ + (tried_ > 0 ? 1 : 0))
    return failure(Errc::parse_error,
                   "{} has batches up to {}; those up to {} were durable, and those up to {} written",
                   database_.path(), *found, synced_, written_);
  if (*found > written_) was_written();
  tried_ = 0;
  for (const Held& each : held_)
    if (each.number > *found)
      if (auto written = write_batch(each.changes, each.number); !written) return written;
  if (auto done = commit_durably(); !done) return done;
  synced();
  return {};
}

}  // namespace llamada::store
