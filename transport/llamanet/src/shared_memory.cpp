#include "llamada/llamanet/shared_memory.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace llamada::llamanet {
namespace {

FileDescriptor create_memfd(const char* name) {
  FileDescriptor memory(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (memory || errno != EINVAL) return memory;
  return FileDescriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));  // before Linux 6.3
}

Result<FileDescriptor> create_sealed(const char* name, std::uint64_t size_bytes, int seals) {
  auto memory = create_memfd(name);
  if (!memory) return system_failure("memfd_create");
  if (auto sized = set_size(memory.get(), size_bytes); !sized) return propagate(sized);
  if (::fcntl(memory.get(), F_ADD_SEALS, seals | F_SEAL_SEAL) != 0) return system_failure("sealing an arena");
  return memory;
}

int protection_for(Mapping::Access access) {
  if (access == Mapping::Access::none) return PROT_NONE;
  return access == Mapping::Access::read_write ? PROT_READ | PROT_WRITE : PROT_READ;
}

/// Each participant of a process maps the arenas of all: without a limit that is set, those are too many.
tl::unexpected<Error> no_address_space(std::size_t size_bytes) {
  rlimit most{};
  const bool is_limited = ::getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
  return failure(Errc::out_of_resources, "{} MiB of address space for an arena were refused; {}",
                 size_bytes >> 20,
                 is_limited ? "raise the limit (ulimit -v unlimited)"
                            : "each participant maps the arena of every participant of the node, and this "
                              "process has too many: share one among its writers and readers");
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<Mapping> Mapping::map(int descriptor, std::size_t size_bytes, Access access) {
  void* address =
      ::mmap(nullptr, size_bytes, protection_for(access), MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (address == MAP_FAILED) {
    if (errno == ENOMEM) return no_address_space(size_bytes);
    if (errno == EAGAIN)
      return failure(
          Errc::out_of_resources,
          "{} MiB of address space for an arena were refused, since the program has its memory locked "
          "(mlockall) and the limit on that is less; raise it (ulimit -l unlimited)",
          size_bytes >> 20);
    return system_failure("mmap of an arena");
  }
  ::madvise(address, size_bytes, MADV_DONTDUMP);
  Mapping mapping;
  mapping.bytes_ = {static_cast<std::byte*>(address), size_bytes};
  return mapping;
}

Result<FileDescriptor> create_memory(const char* name, std::uint64_t size_bytes) {
  return create_sealed(name, size_bytes, F_SEAL_SHRINK | F_SEAL_GROW);
}

Result<FileDescriptor> create_growing_memory(const char* name, std::uint64_t first_bytes) {
  return create_sealed(name, first_bytes, F_SEAL_SHRINK);
}

Result<FileDescriptor> reopen_read_only(int descriptor) {
  FileDescriptor read_only(::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), O_RDONLY | O_CLOEXEC));
  if (!read_only && errno == EMFILE)
    return failure(
        Errc::out_of_resources,
        "llamanetd has no descriptor left for an arena; raise the limit of open files (ulimit -Hn)");
  if (!read_only) return system_failure("reopening an arena through /proc/self/fd");
  return read_only;
}

Result<std::uint64_t> size_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return system_failure("fstat of an arena");
  return static_cast<std::uint64_t>(status.st_size);
}

bool files_may_have(std::uint64_t size_bytes) {
  rlimit most{};
  // Where the limit cannot be asked, making the file shows it.
  return ::getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
         size_bytes <= most.rlim_cur;
}

Status check_file_limit(std::uint64_t size_bytes) {
  if (files_may_have(size_bytes)) return {};
  return failure(
      Errc::out_of_resources,
      "the ranks' shared memory needs a file of {} KiB, most of it never used, and the limit on the size "
      "of files is less; raise it (ulimit -f unlimited)",
      (size_bytes + 1023) >> 10);
}

Status set_size(int descriptor, std::uint64_t size_bytes) {
  if (auto allowed = check_file_limit(size_bytes); !allowed) return allowed;
  // Not libc's ftruncate(), which within a rank may be another's.
  if (::syscall(SYS_ftruncate, descriptor, static_cast<long>(size_bytes)) != 0)
    return system_failure("ftruncate of an arena");
  return {};
}

Result<FileDescriptor> create_eventfd() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return system_failure("eventfd");
  return event;
}

void ring(int eventfd) {
  std::uint64_t one = 1;
  while (::write(eventfd, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void clear(int eventfd) {
  std::uint64_t count;
  while (::read(eventfd, &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

}  // namespace llamada::llamanet
