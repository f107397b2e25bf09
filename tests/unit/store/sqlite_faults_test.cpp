// A database on a disk that is full.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "llamada/store_sqlite/sqlite_store.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::store;

namespace {

/// Fills the file system. What is wrong, or an empty text.
std::string fill_up(const std::string& directory, std::size_t body_bytes) {
  auto store = open_sqlite_store(directory);
  if (!store) return store.error().code() == Errc::out_of_resources ? "" : "open: " + store.error().text();
  if (auto stream = (*store)->stream("a", {}); !stream) return stream.error().text();
  const std::vector<std::byte> body(body_bytes, std::byte{7});
  std::uint64_t number = 0, had = 0;
  bool is_full = false;
  while (!is_full && number < 1000) {
    if (auto appended = (*store)->append({.stream = 1, .number = ++number, .body = body}); !appended)
      return "append: " + appended.error().text();
    auto written = (*store)->write();
    Status synced;
    if (written) synced = (*store)->sync(*written);
    if (written && synced) had = number;
    is_full = !written || !synced;
    const auto code = !written  ? written.error().code()
                      : !synced ? synced.error().code()
                                : Errc::out_of_resources;
    if (is_full && code != Errc::out_of_resources)
      return "not told as a full disk: " + (!written ? written.error() : synced.error()).text();
  }
  if (!is_full) return "the disk never was full";
  const auto count = [&] {
    std::uint64_t items = 0;
    const auto read = had == 0 ? Status() : (*store)->read(1, 0, [&](const Item&) { return ++items > 0; });
    return read ? items : 0;
  };
  if (count() < had) return fmt::format("{} items are there, {} were synced", count(), had);
  store->reset();
  store = open_sqlite_store(directory);
  if (!store) return store.error().code() == Errc::out_of_resources ? "" : "open: " + store.error().text();
  if (count() < had) return fmt::format("{} items are there after a start, {} were synced", count(), had);
  return {};
}

}  // namespace

TEST_CASE(
    "sqlite: file systems of every small size fill up, which is told, and nothing that was synced is lost",
    "[store]") {
  const test::TemporaryFolder folder;
  int answers[2];
  REQUIRE(pipe(answers) == 0);
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      _exit(77);
    std::string wrong;
    for (std::size_t size = 4 << 10; size <= 400 << 10 && wrong.empty(); size += 4 << 10) {
      const std::string text = "size=" + std::to_string(size);
      if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, text.c_str()) != 0) _exit(77);
      wrong = fill_up(folder / "store", size % 3 * 3000 + 700);
      if (!wrong.empty()) wrong += ", " + text;
      umount2(folder.path().c_str(), MNT_DETACH);
    }
    _exit(write(answers[1], wrong.data(), wrong.size()) == static_cast<ssize_t>(wrong.size()) ? 0 : 1);
  }
  close(answers[1]);
  std::string wrong(500, ' ');
  const ssize_t got = read(answers[0], wrong.data(), wrong.size());
  wrong.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  close(answers[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WEXITSTATUS(status) == 77) return say_skipped("full file systems: a mount namespace needs root");
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(wrong == "");
}
