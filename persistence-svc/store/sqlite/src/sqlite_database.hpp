#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "llamada/base/result.hpp"

namespace llamada::store {

/// A prepared statement. Values that are bound must live until reset().
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement = nullptr) : statement_(statement) {}

  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_.get(), at, value); }
  void bind(int at, std::string_view text);
  void bind(int at, std::span<const std::byte> bytes);
  /// SQLITE_ROW, SQLITE_DONE, or an error.
  int step() { return sqlite3_step(statement_.get()); }
  void reset();
  std::int64_t integer(int at) const { return sqlite3_column_int64(statement_.get(), at); }
  std::string text(int at) const;
  /// Valid until the next step.
  std::span<const std::byte> bytes(int at) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

/// A connection to a database with a write-ahead log. All calls of one that is not open fail.
class Database {
 public:
  Database() = default;
  /// With `read_only` the file must be there.
  static Result<Database> open(const std::string& path, bool read_only);

  bool is_open() const { return database_ != nullptr; }
  /// Closes it; the path stays.
  void close();
  /// True if another process has this database open, also to read it only. To be asked of one that is closed:
  /// the locks of SQLite go with the first descriptor that this process closes.
  static bool is_used_by_others(const std::string& path);

  Status run(const char* sql);
  Result<Statement> prepare(const char* sql) const;
  /// The same for a text with static lifetime, prepared once. Reset it after use.
  Result<Statement*> prepared(const char* sql);
  /// Steps to the end.
  Status finish(Statement& statement) const;
  /// The first value of a query.
  Result<std::int64_t> number(const char* sql) const;
  /// Writes what the log has into the database and makes that durable, as far as no reader needs the old.
  Status checkpoint();
  /// The error of the last call, in words.
  Error error(int code) const;
  /// True if the last call has failed to write: of a COMMIT, the log then does not have it.
  bool has_failed_to_write() const;
  /// Pages of the write-ahead log after the last commit.
  int log_pages() const { return *log_pages_; }
  const std::string& path() const { return path_; }

 private:
  struct Closer {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);
  std::unique_ptr<sqlite3, Closer> database_;
  std::map<const char*, Statement> prepared_;  ///< Gone before the database.
  std::string path_;
};

}  // namespace llamada::store
