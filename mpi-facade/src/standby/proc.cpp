#include "standby/proc.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::mpi::standby {
namespace {

constexpr std::size_t piece_bytes = 32 << 10;

FileDescriptor opened(const std::string& path, int flags) {
  return FileDescriptor(
      static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), flags | O_RDONLY | O_CLOEXEC, 0)));
}

/// The kernel's linux_dirent64, whose name follows.
struct EntryHead {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size_bytes;
  std::uint8_t type;
};
constexpr std::size_t name_offset = 19;
static_assert(offsetof(EntryHead, type) + 1 == name_offset);

}  // namespace

std::optional<std::string> content_of(const std::string& path) {
  const FileDescriptor file = opened(path, 0);
  if (!file) return std::nullopt;
  std::string content;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(before + piece_bytes);
    const long count = ::syscall(SYS_read, file.get(), content.data() + before, piece_bytes);
    content.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0) return std::nullopt;
    if (count == 0) return content;
  }
}

std::optional<std::string> link_of(const std::string& path) {
  std::string name(4096, '\0');
  const long length = ::syscall(SYS_readlinkat, AT_FDCWD, path.c_str(), name.data(), name.size());
  if (length <= 0) return std::nullopt;
  name.resize(static_cast<std::size_t>(length));
  return name;
}

std::optional<std::vector<int>> numbers_in(const std::string& path) {
  const FileDescriptor directory = opened(path, O_DIRECTORY);
  if (!directory) return std::nullopt;
  std::vector<int> numbers;
  std::vector<char> entries(piece_bytes);
  for (;;) {
    const long count = ::syscall(SYS_getdents64, directory.get(), entries.data(), entries.size());
    if (count < 0) return std::nullopt;
    if (count == 0) return numbers;
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      EntryHead head{};
      std::memcpy(&head, entries.data() + at, name_offset);
      const std::string_view name(entries.data() + at + name_offset);
      int number = -1;
      std::from_chars(name.data(), name.data() + name.size(), number);
      if (number >= 0 && number != directory.get()) numbers.push_back(number);
      at += head.size_bytes;
    }
  }
}

}  // namespace llamada::mpi::standby
