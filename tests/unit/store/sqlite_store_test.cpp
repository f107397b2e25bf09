#include "llamada/store_sqlite/sqlite_store.hpp"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "llamada/store/copy_store.hpp"
#include "llamada/store/segment_store.hpp"
#include "llamada/store_sqlite/any_store.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::store;
using Catch::Matchers::Contains;

namespace {

using Bytes = std::vector<std::byte>;

std::unique_ptr<Store> open_kind(const std::string& directory, StoreKind kind, bool read_only = false) {
  AnyStoreOptions options;
  options.kind = kind;
  options.read_only = read_only;
  auto opened = open_store(directory, options);
  if (!opened) FAIL(opened.error().text());
  return std::move(*opened);
}

void fill(Store& store, const char* name, std::uint64_t items) {
  const Bytes description(7, std::byte{3});
  const auto stream = store.stream(name, description);
  REQUIRE(stream.has_value());
  for (std::uint64_t number = 1; number <= items; ++number) {
    const Bytes body(300, static_cast<std::byte>(number));
    REQUIRE(store.append(
        {.stream = *stream, .number = 2 * number, .group = number % 3, .kind = 5, .body = body}));
  }
  const auto written = store.write();
  REQUIRE(written.has_value());
  REQUIRE(store.sync(*written).has_value());
}

/// Everything, as text.
std::string contents(const Store& store) {
  std::string text;
  for (const StreamInfo& stream : store.streams()) {
    text += fmt::format("{} {}:", stream.name, stream.description.size());
    REQUIRE(store.read(stream.id, 0, [&](const Item& item) {
      text += fmt::format(" {}/{}/{}/{}/{}", item.number, item.group, item.kind, item.body.size(),
                          item.body.empty() ? 0 : std::to_integer<int>(item.body.back()));
      return true;
    }));
    text += "\n";
  }
  return text;
}

/// As a person would with sqlite3.
std::string query(const std::string& path, const char* sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  std::string text;
  char* error = nullptr;
  const auto row = [](void* into, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i)
      *static_cast<std::string*>(into) += values[i] == nullptr ? "-" : values[i];
    return 0;
  };
  const int code = sqlite3_exec(database, sql, row, &text, &error);
  if (error != nullptr) text = error;
  sqlite3_free(error);
  CHECK(code == SQLITE_OK);
  sqlite3_close(database);
  return text;
}

}  // namespace

TEST_CASE("sqlite: people query what is kept while it is written, and a changed item is refused", "[store]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "store", path = directory + "/store.sqlite";
  auto store = open_kind(directory, StoreKind::sqlite);
  fill(*store, "readings", 4);
  CHECK(query(path, "SELECT count(*) FROM contents WHERE stream = 'readings' AND body_bytes = 300") == "4");
  CHECK(contents(*open_kind(directory, StoreKind::sqlite, true)) == contents(*store));
  query(path, "UPDATE items SET body = zeroblob(300) WHERE number = 4");
  std::vector<std::uint64_t> read, damaged;
  CHECK(store->read(
      1, 0,
      [&](const Item& item) {
        read.push_back(item.number);
        return true;
      },
      [&](std::uint64_t number) { damaged.push_back(number); }));
  CHECK(read == std::vector<std::uint64_t>{2, 6, 8});
  CHECK(damaged == std::vector<std::uint64_t>{4});
  CHECK(store->read(1, 0, [](const Item&) { return true; }).error().code() == Errc::parse_error);
  CHECK(store->figures().damaged_items == 2);
}

TEST_CASE("sqlite: one process writes, and a second one is told which", "[store]") {
  const test::TemporaryFolder folder;
  auto store = open_kind(folder / "store", StoreKind::sqlite);
  const auto second = open_store(folder / "store");
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code() == Errc::already_exists);
  CHECK_THAT(second.error().text(), Contains(fmt::format("process {}", getpid())));
  CHECK(writer_of(folder / "store") == getpid());
}

TEST_CASE("stores: a directory's store is of one kind", "[store]") {
  const test::TemporaryFolder folder;
  const std::string segments = folder / "segments", sqlite = folder / "sqlite";
  CHECK_FALSE(kind_of_store(segments).has_value());
  fill(*open_kind(segments, StoreKind::segments), "a", 1);
  fill(*open_kind(sqlite, StoreKind::sqlite), "a", 1);
  CHECK(kind_of_store(segments) == StoreKind::segments);
  CHECK(kind_of_store(sqlite) == StoreKind::sqlite);
  CHECK(open_segment_store(sqlite).error().code() == Errc::parse_error);
  CHECK(open_sqlite_store(segments).error().code() == Errc::parse_error);
  AnyStoreOptions options;
  options.kind = StoreKind::sqlite;
  CHECK(open_store(segments, options).error().code() == Errc::invalid_argument);
  CHECK(contents(**open_store(segments)) == contents(**open_store(sqlite)));
  REQUIRE(remove_store(sqlite).has_value());
  CHECK_FALSE(std::filesystem::exists(sqlite));
}

TEST_CASE("sqlite: what was written survives a kill, and what was dropped stays away", "[store]") {
  const test::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    auto store = open_store(folder / "store", {.kind = StoreKind::sqlite});
    const Bytes body(3000, std::byte{1});
    if (!store || !(*store)->stream("a", {})) _exit(1);
    for (std::uint64_t number = 1; number <= 50; ++number)
      if (!(*store)->append({.stream = 1, .number = number, .body = body}) || !(*store)->write()) _exit(1);
    if (!(*store)->drop_below(1, 41) || !(*store)->drop(1, 50) || !(*store)->write()) _exit(1);
    (void)(*store)->append({.stream = 1, .number = 51, .body = body});
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  auto store = open_kind(folder / "store", StoreKind::sqlite);
  CHECK(store->figures().written == 51);
  CHECK(store->figures().synced == 51);
  const StreamInfo stream = store->streams().at(0);
  CHECK((stream.first == 41 && stream.last == 49 && stream.items == 9));
  CHECK(store->append({.stream = 1, .number = 50}).error().code() == Errc::invalid_argument);
}

TEST_CASE("stores: a copy has all streams and items, and names what is damaged", "[store]") {
  const test::TemporaryFolder folder;
  const auto from = GENERATE(StoreKind::segments, StoreKind::sqlite);
  const auto to = GENERATE(StoreKind::segments, StoreKind::sqlite);
  auto original = open_kind(folder / "from", from);
  fill(*original, "one", 300);
  fill(*original, "none", 0);
  fill(*original, "other", 3);
  REQUIRE(original->drop(1, 4).has_value());
  REQUIRE(original->end(*original->stream("none", {})).has_value());
  fill(*original, "last", 1);
  auto copy = open_kind(folder / "to", to);
  const auto nothing_damaged = [](const StreamInfo&, std::uint64_t) { FAIL("damaged"); };
  const auto copied = copy_store(*open_kind(folder / "from", from, true), *copy, nothing_damaged);
  REQUIRE(copied.has_value());
  CHECK((copied->streams == 3 && copied->items == 299 + 3 + 1));
  copy = nullptr;
  CHECK(contents(*open_kind(folder / "to", to)) == contents(*original));
  if (from != StoreKind::sqlite) return;
  query(folder / "from/store.sqlite", "UPDATE items SET time_ns = 1 WHERE number = 6");
  std::vector<std::uint64_t> damaged;
  auto second = open_kind(folder / "second", to);
  const auto rest = copy_store(*original, *second, [&](const StreamInfo& stream, std::uint64_t number) {
    CHECK((stream.name == "one" || stream.name == "other"));
    damaged.push_back(number);
  });
  REQUIRE(rest.has_value());
  CHECK(damaged == std::vector<std::uint64_t>{6, 6});
  CHECK(rest->items == copied->items - 2);
}
