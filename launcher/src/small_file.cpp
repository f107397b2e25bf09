#include "small_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {
namespace {

/// Nothing for what may be read.
const char* refused_kind(const FileDescriptor& file) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return nullptr;
  if (S_ISDIR(status.st_mode)) return "a folder";
  struct stat null {};
  const bool is_null = stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev;
  // A person may type the text.
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !is_null && !isatty(file.get())))
    return "a device";
  return nullptr;
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, std::string_view what) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return failure(Errc::not_found, "{} '{}' cannot be read: {}", what, path, strerror(errno));
  if (const char* kind = refused_kind(file))
    return failure(Errc::invalid_argument, "{} '{}' is {}; it must be a file or a pipe", what, path, kind);
  std::string text;
  char part[64 << 10];
  for (;;) {
    const ssize_t count = read(file.get(), part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(Errc::not_found, "{} '{}' cannot be read: {}", what, path, strerror(errno));
    if (count == 0) return text;
    text.append(part, static_cast<std::size_t>(count));
    if (text.size() > small_file_bytes_max)
      return failure(Errc::out_of_resources, "{} '{}' is longer than {} MiB; is it the right one?", what,
                     path, small_file_bytes_max >> 20);
  }
}

}  // namespace llamada::launcher
