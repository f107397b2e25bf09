#include "llamada/base/clock.hpp"
#include "sqlite_store_impl.hpp"

namespace llamada::store {

namespace {

/// The write-ahead log is written into the database when it is as long: 32 MiB.
constexpr int log_pages_max = 8192;

}  // namespace

Result<BatchNumber> SqliteStore::write() {
  const std::lock_guard lock(mutex_);
  if (open_.empty()) return written_;
  if (must_reopen_)
    if (auto opened = reopen(Error(Errc::system, "an earlier sync failed")); !opened)
      return propagate(opened);
  if (auto written = write_batch(); !written) {
    (void)database_->run("ROLLBACK");
    return propagate(written);
  }
  ++written_;
  open_.clear();
  open_bytes_ = 0;
  // The batch is there. What this says is known when it matters: the next sync looks.
  if (database_->log_pages() > log_pages_max && !database_->checkpoint()) must_reopen_ = true;
  return written_;
}

Status SqliteStore::write_batch() {
  if (auto begun = database_->run("BEGIN IMMEDIATE"); !begun) return begun;
  for (const Change& each : open_)
    if (auto applied = std::visit([this](const auto& change) { return apply(change); }, each); !applied)
      return applied;
  auto counted = database_->prepare("UPDATE store SET written = ?");
  if (!counted) return propagate(counted);
  counted->bind(1, static_cast<std::int64_t>(written_ + 1));
  if (auto done = database_->finish(*counted); !done) return done;
  return database_->run("COMMIT");
}

Status SqliteStore::apply(const Declaration& declared) {
  auto insert = database_->prepare("INSERT INTO streams VALUES (?, ?, ?, 0)");
  if (!insert) return propagate(insert);
  insert->bind(1, std::int64_t{declared.stream});
  insert->bind(2, declared.name);
  insert->bind(3, declared.description);
  if (auto done = database_->finish(*insert); !done) return done;
  auto counted = database_->prepare("UPDATE store SET last_stream = max(last_stream, ?)");
  if (!counted) return propagate(counted);
  counted->bind(1, std::int64_t{declared.stream});
  return database_->finish(*counted);
}

Status SqliteStore::apply(const KeptItem& appended) {
  auto prepared = database_->prepared("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
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
  if (auto done = database_->finish(*insert); !done) return done;
  return reached(item.stream, item.number);
}

/// No smaller number can be appended any longer.
Status SqliteStore::reached(StreamId stream, std::uint64_t number) {
  auto prepared = database_->prepared("UPDATE streams SET last = max(last, ?) WHERE id = ?");
  if (!prepared) return propagate(prepared);
  Statement* update = *prepared;
  update->bind(1, bounded(number));
  update->bind(2, std::int64_t{stream});
  return database_->finish(*update);
}

Status SqliteStore::apply(const Drop& drop) {
  auto remove = database_->prepare("DELETE FROM items WHERE stream = ? AND number BETWEEN ? AND ?");
  if (!remove) return propagate(remove);
  remove->bind(1, std::int64_t{drop.stream});
  remove->bind(2, bounded(drop.first));
  remove->bind(3, bounded(drop.last));
  if (auto done = database_->finish(*remove); !done) return done;
  return drop.first == 0 ? reached(drop.stream, drop.last) : Status();
}

Status SqliteStore::apply(const End& end) {
  for (const char* sql : {"DELETE FROM items WHERE stream = ?", "DELETE FROM streams WHERE id = ?"}) {
    auto remove = database_->prepare(sql);
    if (!remove) return propagate(remove);
    remove->bind(1, std::int64_t{end.stream});
    if (auto done = database_->finish(*remove); !done) return done;
  }
  return {};
}

Status SqliteStore::sync(BatchNumber batch) {
  const std::lock_guard lock(mutex_);
  if (auto checked = check_batch(batch, written_); !checked) return checked;
  if (batch <= synced_) return {};
  if (auto may = may_change(); !may) return may;
  if (must_reopen_) return reopen(Error(Errc::system, "an earlier sync failed"));
  const SystemClock clock;
  const auto began = clock.monotonic();
  auto done = commit_durably();
  figures_.last_sync_ns = static_cast<std::uint64_t>((clock.monotonic() - began).count());
  // Nothing has been synced for want of room: the log is as it was.
  if (!done && done.error().code() == Errc::out_of_resources) return done;
  if (!done) return reopen(done.error());
  synced_ = written_;
  return {};
}

/// After a failed sync the kernel may have forgotten what the log had, and a second sync would succeed
/// without it. SQLite checks the log when it opens it, and what it finds is written once more, into the
/// database.
Status SqliteStore::reopen(const Error& why) {
  ++figures_.failed_syncs;
  must_reopen_ = true;
  const BatchNumber had = written_;
  if (auto opened = open_database(); !opened)
    return tl::unexpected<Error>(
        Error(opened.error().code(),
              fmt::format("{}; opening it again fails: {}", why.text(), opened.error().text()),
              opened.error().system_errno()));
  must_reopen_ = false;
  if (written_ == had) {
    say(fmt::format("{}; all batches are there after opening it again", why.text()));
    return {};
  }
  // The open batch may append to streams of theirs.
  const BatchNumber lost = had - written_;
  written_ = synced_ = had;
  open_.clear();
  open_bytes_ = 0;
  if (auto known = load_catalogue(); !known) return known;
  return failure(Errc::system, "{}; the last {} batches and the open one are lost: append their items again",
                 why.text(), lost);
}

}  // namespace llamada::store
