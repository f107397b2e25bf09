#pragma once

namespace llamada::test {

enum class SqliteCall { none, pwrite, pread, ftruncate, fdatasync };

/// After `skip` calls of this kind the next `count` of them fail.
struct SqliteFailure {
  SqliteCall call = SqliteCall::none;
  int error = 0;  ///< A number of errno; -1: a short write, behind which one fails.
  int skip = 0, count = 0;
  const char* of = "";   ///< Only files whose names end so.
  bool forgets = false;  ///< A failed fdatasync loses what was written since the last one.
};

/// Lets calls of SQLite in this process fail, and loses what it has not synced. A program that has this
/// source calls its pwrite64 and the like instead of the C library's. One at a time.
class SqliteDisk {
 public:
  SqliteDisk();
  ~SqliteDisk();
  SqliteDisk(const SqliteDisk&) = delete;
  SqliteDisk& operator=(const SqliteDisk&) = delete;

  static void fail(const SqliteFailure& failure);
  /// How many calls have failed as wanted.
  static int failed();
  /// From now on all calls fail.
  static void die();
  /// The machine has died and starts again; the databases must be closed.
  static void lose_power();
};

}  // namespace llamada::test
