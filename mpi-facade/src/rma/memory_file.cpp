#include "rma/memory_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

// By system calls: what libc calls open() may be the replay's.

namespace llamada::mpi::rma {
namespace {

/// More is copied sooner by process_vm_readv. A page at most, so that it lies in two.
constexpr std::size_t bytes_max = page_bytes;

std::uint64_t first_page(const Piece& piece) { return piece.address / page_bytes * page_bytes; }
std::uint64_t last_page(const Piece& piece) {
  return (piece.address + piece.bytes - 1) / page_bytes * page_bytes;
}

/// Of this process; several threads may be ranks (in tests). A number, which orders nothing.
std::atomic<int> open_count{0};

/// Whether the numbers in /proc are those by which this process knows others.
bool is_proc_ours() {
  static const bool ours = [] {
    std::array<char, 32> name;
    const long size = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self", name.data(), name.size());
    return size > 0 &&
           std::string_view(name.data(), static_cast<std::size_t>(size)) == std::to_string(own_process());
  }();
  return ours;
}

/// None if it cannot be, or not out of the way of the program: a number that it closes by mistake, and is
/// given for a file of its own, must not be this one's.
KeptDescriptor open_memory(pid_t pid) {
  if (!is_proc_ours()) return {};
  const std::string path = fmt::format("/proc/{}/mem", pid);
  const long opened = syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) return {};
  KeptDescriptor file(FileDescriptor(static_cast<int>(opened)));
  return file.get() >= kept_descriptor_min ? std::move(file) : KeptDescriptor();
}

}  // namespace

MemoryFile::~MemoryFile() {
  if (file_) open_count.fetch_sub(1, std::memory_order_relaxed);
}

bool MemoryFile::is_open(pid_t pid) {
  if (std::exchange(tried_, true)) return static_cast<bool>(file_);
  if (open_count.fetch_add(1, std::memory_order_relaxed) < open_max) file_ = open_memory(pid);
  if (!file_) open_count.fetch_sub(1, std::memory_order_relaxed);
  return static_cast<bool>(file_);
}

bool MemoryFile::read(pid_t pid, const Piece& piece) {
  if (piece.bytes > bytes_max || !is_open(pid)) return false;
  return syscall(SYS_pread64, file_.get(), piece.here, piece.bytes, piece.address) ==
         static_cast<long>(piece.bytes);
}

bool MemoryFile::write(pid_t pid, const Piece& piece) {
  if (piece.bytes > bytes_max) return false;
  const std::uint64_t first = first_page(piece), last = last_page(piece);
  if (remembered(first) != first || remembered(last) != last || !is_open(pid)) return false;
  return syscall(SYS_pwrite64, file_.get(), piece.here, piece.bytes, piece.address) ==
         static_cast<long>(piece.bytes);
}

void MemoryFile::written(const Piece& piece) {
  if (piece.bytes > bytes_max) return;
  for (const std::uint64_t page : {first_page(piece), last_page(piece)}) remembered(page) = page;
}

}  // namespace llamada::mpi::rma
