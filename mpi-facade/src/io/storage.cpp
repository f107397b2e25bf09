#include "io/storage.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace llamada::mpi::io {
namespace {

/// The most that one system call transfers: Linux takes a little less than 2 GiB.
constexpr std::size_t transfer_bytes_max = std::size_t{1} << 30;

/// Calls `attempt` until it is not interrupted.
template <typename Attempt>
auto uninterrupted(Attempt attempt) {
  auto result = attempt();
  while (result < 0 && errno == EINTR) result = attempt();
  return result;
}

struct flock range_of(short type, std::uint64_t offset, std::uint64_t bytes) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = static_cast<off_t>(bytes);
  return range;
}

}  // namespace

int error_class_for(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
      return MPI_ERR_BAD_FILE;
    case EOPNOTSUPP:
    case ENOSYS:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
      return MPI_ERR_IO;
  }
}

tl::unexpected<Error> file_failure(const std::string& name, const char* what, int error_number) {
  return tl::unexpected<Error>(
      Error(Errc::system, fmt::format("{} cannot be {}: {}", name, what, std::strerror(error_number)),
            error_number));
}

Status Storage::open(int more_flags) {
  const int opened =
      uninterrupted([&] { return ::open(path_.c_str(), flags_ | more_flags | O_CLOEXEC, 0666); });
  if (opened < 0) return file_failure(path_, "opened", errno);
  descriptor_ = KeptDescriptor(FileDescriptor(opened));
  return {};
}

Status Storage::close() {
  if (!descriptor_) return {};
  // The descriptor is gone whatever close() says; EINTR is no failure.
  if (::close(descriptor_.release().release()) < 0 && errno != EINTR)
    return file_failure(path_, "closed", errno);
  return {};
}

Status Storage::write(std::span<const std::byte> bytes, std::uint64_t offset) {
  may_be_unsynchronised_ |= !bytes.empty();
  while (!bytes.empty()) {
    const ssize_t written = uninterrupted([&] {
      return ::pwrite(descriptor_.get(), bytes.data(), std::min(bytes.size(), transfer_bytes_max),
                      static_cast<off_t>(offset));
    });
    if (written < 0) return file_failure(path_, "written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<std::size_t> Storage::read(std::span<std::byte> bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(descriptor_.get(), bytes.data() + done,
                     std::min(bytes.size() - done, transfer_bytes_max), static_cast<off_t>(offset + done));
    });
    if (got < 0) return file_failure(path_, "read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<std::uint64_t> Storage::size() {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) < 0) return file_failure(path_, "asked for its size", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

Status Storage::set_size(std::uint64_t size) {
  may_be_unsynchronised_ = true;
  if (uninterrupted([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size)); }) < 0)
    return file_failure(path_, "given this size", errno);
  return {};
}

Status Storage::preallocate(std::uint64_t size) {
  if (size == 0) return {};
  may_be_unsynchronised_ = true;
  int failed = 0;
  do {
    failed = ::posix_fallocate(descriptor_.get(), 0, static_cast<off_t>(size));
  } while (failed == EINTR);
  return failed ? file_failure(path_, "given this room", failed) : Status{};
}

Status Storage::sync() {
  if (!std::exchange(may_be_unsynchronised_, false)) return {};
  if (uninterrupted([&] { return ::fsync(descriptor_.get()); }) == 0) return {};
  // A device or pipe has nothing to be synchronised.
  if (errno == EINVAL || errno == EROFS) return {};
  may_be_unsynchronised_ = true;
  return file_failure(path_, "synchronised", errno);
}

Result<Storage::Lock> Storage::lock(bool for_writing, std::uint64_t offset, std::uint64_t bytes) {
  // Of the open file description: the locks of one process's files do not fall away with each other's.
  struct flock range = range_of(for_writing ? F_WRLCK : F_RDLCK, offset, bytes);
  if (uninterrupted([&] { return ::fcntl(descriptor_.get(), F_OFD_SETLKW, &range); }) < 0)
    return file_failure(path_, "locked", errno);
  return Lock(descriptor_.get(), offset, bytes);
}

Storage::Lock::~Lock() {
  if (descriptor_ < 0) return;
  struct flock range = range_of(F_UNLCK, offset_, bytes_);
  ::fcntl(descriptor_, F_OFD_SETLK, &range);
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) < 0) return file_failure(path, "removed", errno);
  return {};
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace llamada::mpi::io
