#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include "io/storage.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi::io;

namespace {

int syncs = 0;
int sync_error = 0;

}  // namespace

/// In the place of libc's, for this program.
extern "C" int fsync(int) {
  ++syncs;
  errno = sync_error;
  return sync_error ? -1 : 0;
}

TEST_CASE("storage: what is synchronised is not so again before something is written", "[mpi][io]") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("llamada-storage-" + std::to_string(::getpid()))).string();
  Storage storage(path, O_RDWR);
  REQUIRE(storage.open(O_CREAT));
  const std::array<std::byte, 4> bytes{};
  const auto syncs_now = [&] {
    const int before = syncs;
    const bool good = static_cast<bool>(storage.sync());
    return good ? syncs - before : -1;
  };
  CHECK(syncs_now() == 1);
  CHECK(syncs_now() == 0);
  REQUIRE(storage.write(bytes, 0));
  CHECK(syncs_now() == 1);
  CHECK(syncs_now() == 0);
  REQUIRE(storage.write({}, 0));
  std::array<std::byte, 4> read;
  REQUIRE(storage.read(read, 0));
  CHECK(syncs_now() == 0);
  REQUIRE(storage.set_size(100));
  CHECK(syncs_now() == 1);
  REQUIRE(storage.preallocate(200));
  CHECK(syncs_now() == 1);
  REQUIRE(storage.write(bytes, 8));
  sync_error = EIO;
  CHECK(syncs_now() == -1);
  sync_error = 0;
  CHECK(syncs_now() == 1);
  CHECK(syncs_now() == 0);
  REQUIRE(storage.close());
  std::filesystem::remove(path);
}
