#include "sqlite_database.hpp"

#include <fcntl.h>

#include <cerrno>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::store {

void Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text(statement_.get(), at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

void Statement::bind(int at, std::span<const std::byte> bytes) {
  // A null pointer would be NULL.
  sqlite3_bind_blob64(statement_.get(), at, bytes.empty() ? static_cast<const void*>("") : bytes.data(),
                      bytes.size(), SQLITE_STATIC);
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::string Statement::text(int at) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), at));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), at))};
}

std::span<const std::byte> Statement::bytes(int at) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), at));
  return {bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), at))};
}

Result<Database> Database::open(const std::string& path, bool read_only) {
  Database opened;
  opened.path_ = path;
  sqlite3* database = nullptr;
  const int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  opened.database_.reset(database);
  if (code != SQLITE_OK) return tl::unexpected<Error>(opened.error(code));
  sqlite3_extended_result_codes(database, 1);
  // People look at the database with other programs, for a moment.
  constexpr int busy_ms = 5000;
  sqlite3_busy_timeout(database, busy_ms);
  if (read_only) return opened;
  // The store itself says when, and looks at the result. Closing, too, would write what a failed sync has
  // left, unchecked.
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (auto set = opened.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"); !set)
    return propagate(set);
  sqlite3_wal_hook(
      database,
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      opened.log_pages_.get());
  return opened;
}

void Database::close() {
  prepared_.clear();
  database_.reset();
}

bool Database::is_used_by_others(const std::string& path) {
  // Each connection has a lock somewhere on the index of the log while it is open.
  const FileDescriptor index(::open((path + "-shm").c_str(), O_RDWR | O_CLOEXEC));
  if (!index) return false;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(index.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Status Database::run(const char* sql) {
  if (!is_open()) return tl::unexpected<Error>(error(SQLITE_CANTOPEN));
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<Error>(error(code));
  return {};
}

Result<Statement> Database::prepare(const char* sql) const {
  if (!is_open()) return tl::unexpected<Error>(error(SQLITE_CANTOPEN));
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<Error>(error(code));
  return Statement(statement);
}

Result<Statement*> Database::prepared(const char* sql) {
  const auto known = prepared_.find(sql);
  if (known != prepared_.end()) return &known->second;
  auto statement = prepare(sql);
  if (!statement) return propagate(statement);
  return &prepared_.emplace(sql, std::move(*statement)).first->second;
}

Status Database::finish(Statement& statement) const {
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = statement.step();
  Status done;
  if (code != SQLITE_DONE) done = tl::unexpected<Error>(error(code));
  statement.reset();
  return done;
}

Result<std::int64_t> Database::number(const char* sql) const {
  auto statement = prepare(sql);
  if (!statement) return propagate(statement);
  const int code = statement->step();
  if (code == SQLITE_ROW) return statement->integer(0);
  if (code == SQLITE_DONE) return failure(Errc::not_found, "{} is not the database of a store", path_);
  return tl::unexpected<Error>(error(code));
}

Status Database::checkpoint() {
  if (!is_open()) return tl::unexpected<Error>(error(SQLITE_CANTOPEN));
  const int code =
      sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return {};
  return tl::unexpected<Error>(error(code));
}

bool Database::has_failed_to_write() const {
  const int code = sqlite3_extended_errcode(database_.get());
  return code == SQLITE_FULL || code == SQLITE_IOERR_WRITE;
}

Error Database::error(int code) const {
  const int system = database_ ? sqlite3_system_errno(database_.get()) : 0;
  const int primary = code & 0xff;
  const char* detail = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
  const std::string text = fmt::format("{}: {} ({})", path_, detail, sqlite3_errstr(code));
  // After a failed sync for want of room the log is not what it was: that is no full disk.
  const bool is_of_sync = code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
  const bool is_full = primary == SQLITE_FULL ||
                       (primary == SQLITE_IOERR && !is_of_sync && (system == ENOSPC || system == EDQUOT));
  if (is_full) return {Errc::out_of_resources, text, ENOSPC};
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) return {Errc::parse_error, text};
  return {Errc::system, text, system};
}

}  // namespace llamada::store
