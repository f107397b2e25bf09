#include "checkpoint/image.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "llamada/base/bytes.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/crc32c.hpp"
#include "llamada/base/file_descriptor.hpp"

// A file: magic u64 | bytes of the state u64 | CRC of the state u32 | number of regions u32 | state;
// then for each region: bytes u64 | its bytes | their CRC u32. CRCs are CRC-32C.

namespace llamada::mpi::checkpoint {
namespace {

constexpr std::uint64_t magic = 0x3130'5450'4b43'4c4c;  // "LLCKPT01"
constexpr std::size_t written_at_once = std::size_t{16} << 20;

class Writing {
 public:
  explicit Writing(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (!file_) fail(errno);
  }

  void put(std::span<const std::byte> bytes) {
    while (status_ && !bytes.empty()) {
      const ssize_t count = ::write(file_.get(), bytes.data(), std::min(bytes.size(), written_at_once));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return fail(errno);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  template <typename Number>
  void number(Number value) {
    put(std::as_bytes(std::span(&value, 1)));
  }
  Status finish() {
    if (status_ && ::fsync(file_.get()) != 0) fail(errno);
    return std::move(status_);
  }

 private:
  void fail(int error) {
    if (status_) status_ = system_failure(fmt::format("writing the checkpoint {}", path_), error);
  }

  const std::string& path_;
  FileDescriptor file_;
  Status status_;
};

Status sync_directory_of(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/'));
  const FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) return system_failure(fmt::format("fsync of {}", directory));
  return {};
}

class Reading {
 public:
  explicit Reading(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_) status_ = system_failure(fmt::format("opening the checkpoint {}", path_));
  }

  void get(std::span<std::byte> bytes) {
    while (status_ && !bytes.empty()) {
      const ssize_t count = ::read(file_.get(), bytes.data(), std::min(bytes.size(), written_at_once));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) status_ = system_failure(fmt::format("reading the checkpoint {}", path_));
      if (count == 0) damaged("it ends too early");
      if (status_) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  template <typename Number>
  Number number() {
    Number value{};
    get(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  void damaged(const std::string& how) {
    if (status_) status_ = failure(Errc::parse_error, "the checkpoint {} cannot be used: {}", path_, how);
  }
  bool ok() const { return status_.has_value(); }
  Status finish() { return std::move(status_); }

 private:
  const std::string& path_;
  FileDescriptor file_;
  Status status_;
};

std::vector<std::byte> encode(const ImageState& state) {
  ByteWriter to;
  to.number(state.number);
  to.number(state.calls);
  for (const std::uint64_t bytes : state.written) to.number(bytes);
  to.number(static_cast<std::uint32_t>(state.clocks.size()));
  for (const auto& clock : state.clocks) {
    to.number(clock.id);
    to.number(clock.last);
  }
  to.number(state.contexts.next_common);
  to.number(state.contexts.next_own);
  to.number(static_cast<std::uint32_t>(state.contexts.unused_own.size()));
  for (const std::uint32_t context : state.contexts.unused_own) to.number(context);
  to.number(static_cast<std::uint32_t>(state.files.size()));
  for (const OpenFile& file : state.files) {
    to.number(file.descriptor);
    to.number(file.device);
    to.number(file.inode);
    to.number(file.place);
  }
  return to.take();
}

bool decode(std::span<const std::byte> bytes, ImageState& state) {
  ByteReader from(bytes);
  state.number = from.number<std::uint32_t>();
  state.calls = from.number<std::uint64_t>();
  for (std::uint64_t& written : state.written) written = from.number<std::uint64_t>();
  const auto each = [&from](auto& list, auto read) {
    for (auto left = from.number<std::uint32_t>(); from.ok() && left > 0; --left) list.push_back(read());
  };
  each(state.clocks, [&from] {
    const auto id = from.number<std::uint32_t>();
    return replay::Determinants::ToldClock{id, from.number<std::uint64_t>()};
  });
  state.contexts.next_common = from.number<std::uint32_t>();
  state.contexts.next_own = from.number<std::uint32_t>();
  each(state.contexts.unused_own, [&from] { return from.number<std::uint32_t>(); });
  each(state.files, [&from] {
    OpenFile file;
    file.descriptor = from.number<std::int32_t>();
    file.device = from.number<std::uint64_t>();
    file.inode = from.number<std::uint64_t>();
    file.place = from.number<std::int64_t>();
    return file;
  });
  return from.is_complete();
}

}  // namespace

std::string image_path(const std::string& directory, std::uint32_t number, int rank) {
  return fmt::format("{}/{}.{}", directory, number, rank);
}

Status write_image(const std::string& path, const ImageState& state, std::span<const Region> memory) {
  const std::vector<std::byte> encoded = encode(state);
  Writing file(path);
  LLAMADA_CRASH_POINT("checkpoint:opened");
  file.number(magic);
  file.number(std::uint64_t{encoded.size()});
  file.number(crc32c(encoded));
  file.number(static_cast<std::uint32_t>(memory.size()));
  file.put(encoded);
  for (const Region& region : memory) {
    file.number(std::uint64_t{region.size()});
    file.put(region);
    file.number(crc32c(region));
    LLAMADA_CRASH_POINT("checkpoint:region-written");
  }
  if (auto written = file.finish(); !written) return written;
  return sync_directory_of(path);
}

Result<ImageState> read_image(const std::string& path, std::span<const Region> memory) {
  Reading file(path);
  if (file.number<std::uint64_t>() != magic) file.damaged("it is no checkpoint");
  const auto state_bytes = file.number<std::uint64_t>();
  const auto state_crc = file.number<std::uint32_t>();
  const auto regions = file.number<std::uint32_t>();
  if (state_bytes > (std::uint64_t{1} << 30)) file.damaged("its head is damaged");
  std::vector<std::byte> encoded(file.ok() ? state_bytes : 0);
  file.get(encoded);
  ImageState state;
  if (file.ok() && (crc32c(encoded) != state_crc || !decode(encoded, state)))
    file.damaged("its head is damaged");
  if (file.ok() && regions != memory.size())
    file.damaged(fmt::format("the program has registered {} pieces of memory, and had registered {}",
                             memory.size(), regions));
  for (std::size_t at = 0; at < memory.size() && file.ok(); ++at) {
    const auto bytes = file.number<std::uint64_t>();
    if (bytes != memory[at].size())
      file.damaged(fmt::format("piece {} of the registered memory has {} bytes, and had {}", at + 1,
                               memory[at].size(), bytes));
    if (!file.ok()) break;
    file.get(memory[at]);
    if (file.number<std::uint32_t>() != crc32c(memory[at]))
      file.damaged(fmt::format("piece {} of the registered memory is damaged in it", at + 1));
  }
  if (auto read = file.finish(); !read) return propagate(read);
  return state;
}

void remove_image(const std::string& directory, std::uint32_t number, int rank) {
  ::unlink(image_path(directory, number, rank).c_str());
}

void remove_images_before(const std::string& directory, std::uint32_t number, int rank,
                          std::size_t kept_count) {
  DIR* const listing = ::opendir(directory.c_str());
  if (listing == nullptr) return;
  std::vector<std::uint32_t> old;
  while (const dirent* const entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    std::uint32_t found = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), found);
    if (read.ec != std::errc() || found >= number) continue;
    if (name.substr(static_cast<std::size_t>(read.ptr - name.data())) == fmt::format(".{}", rank))
      old.push_back(found);
  }
  ::closedir(listing);
  std::ranges::sort(old);
  old.resize(old.size() - std::min(kept_count, old.size()));
  for (const std::uint32_t each : old) remove_image(directory, each, rank);
}

}  // namespace llamada::mpi::checkpoint
