// A database on a disk of which each call fails once, or several times, and that then loses its power.
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>

#include "llamada/store_sqlite/sqlite_store.hpp"
#include "sqlite_disk.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::store;
using test::SqliteCall;
using test::SqliteDisk;
using test::SqliteFailure;

namespace {

constexpr int tries_max = 12;

using Items = std::map<std::uint64_t, std::size_t>;

/// What a program does that keeps samples in a database: it tries again until all is durable.
class Program {
 public:
  Program(std::string directory, std::size_t scale) : directory_(std::move(directory)), scale_(scale) {}

  /// What is wrong, or an empty text.
  std::string run() {
    if (std::string wrong = open(); !wrong.empty()) return wrong;
    for (int batch = 0; batch < 6; ++batch)
      if (std::string wrong = keep(batch); !wrong.empty()) return wrong;
    // One more that is not synced.
    if (!append()) return "append";
    (void)store_->write();
    if (std::string wrong = compare("while it runs"); !wrong.empty()) return wrong;
    SqliteDisk::die();
    store_ = nullptr;
    SqliteDisk::lose_power();
    if (std::string wrong = open(); !wrong.empty()) return "after the loss of power: " + wrong;
    return compare("after the loss of power");
  }

 private:
  std::size_t bytes_of(std::uint64_t number) const { return scale_ * (3000 + number % 7 * 900); }

  std::string open() {
    std::string why;
    for (int tries = 0; tries < tries_max; ++tries) {
      SqliteOptions options;
      options.say = [this](std::string_view text) { sentences_.emplace_back(text); };
      auto opened = open_sqlite_store(directory_, options);
      if (!opened) {
        why = opened.error().text();
        continue;
      }
      store_ = std::move(*opened);
      if (const auto stream = store_->stream("a", {}); !stream || *stream != 1) return "another stream";
      return {};
    }
    return "it cannot be opened: " + why;
  }

  bool append() {
    ++last_;
    const std::vector<std::byte> body(bytes_of(last_), static_cast<std::byte>(last_));
    items_[last_] = body.size();
    return store_->append({.stream = 1, .number = last_, .group = last_ % 3, .body = body}).has_value();
  }

  std::string keep(int batch) {
    for (int each = 0; each < 2 + batch % 2; ++each)
      if (!append()) return "append";
    if (batch == 3) {
      if (!store_->drop_below(1, 3)) return "drop";
      items_.erase(items_.begin(), items_.lower_bound(3));
    }
    if (batch % 3 == 2) return write() == 0 ? "a batch cannot be written" : "";
    for (int tries = 0; tries < tries_max; ++tries) {
      const BatchNumber number = write();
      if (number == 0) return "a batch cannot be written";
      if (const auto synced = store_->sync(number); synced) {
        durable_ = items_;
        return {};
      }
      // As a service does that serves late readers meanwhile.
      (void)store_->figures();
      (void)store_->streams();
      if (tries == 3 && !append()) return "append";
    }
    return "a batch cannot be synced";
  }

  BatchNumber write() {
    for (int tries = 0; tries < tries_max; ++tries) {
      if (const auto written = store_->write()) return *written;
      if (tries == 1 && !append()) return 0;
    }
    return 0;
  }

  std::string compare(const char* when) {
    Items found;
    bool is_right = true;
    Status read;
    for (int tries = 0; tries < tries_max; ++tries) {
      found.clear();
      read = store_->read(1, 0, [&](const Item& item) {
        is_right = is_right && item.body.size() == bytes_of(item.number) && item.group == item.number % 3 &&
                   item.body.front() == static_cast<std::byte>(item.number) &&
                   item.body.front() == item.body.back();
        found[item.number] = item.body.size();
        return true;
      });
      if (read) break;
    }
    if (!read) return fmt::format("{}: {}", when, read.error().text());
    if (!is_right) return fmt::format("{}: an item is not what was appended", when);
    for (const auto& [number, bytes] : durable_)
      if (items_.contains(number) && !found.contains(number))
        return fmt::format("{}: item {} was durable and is missing", when, number);
    for (const auto& [number, bytes] : found)
      if (!items_.contains(number) && !durable_.contains(number))
        return fmt::format("{}: item {} should not be there", when, number);
    return {};
  }

  std::string directory_;
  std::size_t scale_;
  std::unique_ptr<Store> store_;
  std::vector<std::string> sentences_;
  Items items_, durable_;
  std::uint64_t last_ = 0;
};

std::string run(const SqliteFailure& failure, int& failed, std::size_t scale = 1) {
  const test::TemporaryFolder folder;
  SqliteDisk disk;
  SqliteDisk::fail(failure);
  const std::string wrong = Program(folder / "store", scale).run();
  failed = SqliteDisk::failed();
  return wrong;
}

}  // namespace

TEST_CASE("sqlite: whichever call fails, nothing that was synced is lost, and the store goes on", "[store]") {
  const auto [call, error, forgets] = GENERATE(table<SqliteCall, int, bool>({
      {SqliteCall::pwrite, EIO, false},
      {SqliteCall::pwrite, ENOSPC, false},
      {SqliteCall::pwrite, -1, false},
      {SqliteCall::pread, EIO, false},
      {SqliteCall::ftruncate, EIO, false},
      {SqliteCall::fdatasync, EIO, false},
      {SqliteCall::fdatasync, EIO, true},
      {SqliteCall::fdatasync, ENOSPC, true},
  }));
  const int count = GENERATE(1, 2, 5);
  int skip = 0, failed = 1;
  for (; failed > 0 && skip < 1000; ++skip) {
    const std::string wrong = run({call, error, skip, count, "", forgets}, failed);
    INFO("call " << static_cast<int>(call) << ", error " << error << ", skip " << skip << ", count "
                 << count);
    REQUIRE(wrong == "");
  }
  CHECK((skip > 1 || call == SqliteCall::ftruncate));
}

TEST_CASE("sqlite: a batch that is in the log although writing it has failed is there once", "[store]") {
  // The index of the log grows behind the commit, for each 4096 pages.
  int failed = 1;
  for (int skip = 8; failed > 0 && skip < 100; ++skip) {
    const std::string wrong = run({SqliteCall::pwrite, ENOSPC, skip, 1, "-shm"}, failed, 400);
    INFO("skip " << skip);
    REQUIRE(wrong == "");
    CHECK((failed == 1 || skip > 8));
  }
}

TEST_CASE("sqlite: after a failed sync nothing is durable while another program has the database open",
          "[store]") {
  const test::TemporaryFolder folder;
  SqliteDisk disk;
  int begin[2], ready[2];
  REQUIRE((pipe(begin) == 0 && pipe(ready) == 0));
  // Before this process has the database open: SQLite's locks know nothing of fork().
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte = 0;
    (void)!::read(begin[0], &byte, 1);
    sqlite3* database = nullptr;
    sqlite3_open((folder / "store/store.sqlite").c_str(), &database);
    sqlite3_exec(database, "SELECT count(*) FROM items", nullptr, nullptr, nullptr);
    (void)!::write(ready[1], "r", 1);
    pause();
  }
  auto store = open_sqlite_store(folder / "store");
  REQUIRE(store.has_value());
  const auto append = [&](std::uint64_t number) {
    const std::vector<std::byte> body(5000, std::byte{1});
    REQUIRE((*store)->append({.stream = 1, .number = number, .body = body}).has_value());
  };
  REQUIRE((*store)->stream("a", {}) == StreamId{1});
  append(1);
  REQUIRE((*store)->sync(*(*store)->write()).has_value());
  REQUIRE(::write(begin[1], "b", 1) == 1);
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  append(2);
  const BatchNumber batch = *(*store)->write();
  SqliteDisk::fail({.call = SqliteCall::fdatasync, .error = EIO, .count = 1, .forgets = true});
  for (int again = 0; again < 2; ++again) {
    const auto refused = (*store)->sync(batch);
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().text(), Catch::Matchers::Contains("another program has it open"));
    CHECK((*store)->figures().synced < batch);
  }
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  append(3);
  CHECK((*store)->sync(*(*store)->write()).has_value());
  SqliteDisk::die();
  store->reset();
  SqliteDisk::lose_power();
  store = open_sqlite_store(folder / "store");
  REQUIRE(store.has_value());
  std::uint64_t count = 0;
  CHECK((*store)->read(1, 0, [&](const Item& item) { return item.number == ++count; }));
  CHECK(count == 3);
  for (const int end : {begin[0], begin[1], ready[0], ready[1]}) close(end);
}
