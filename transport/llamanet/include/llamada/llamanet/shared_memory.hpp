#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// A mapping of shared memory into this process; unmapped at the end. Move-only. Never part of a core dump,
/// and not accounted before its pages are written.
class Mapping {
 public:
  /// none: address space that is only reserved, until mprotect() makes it accessible.
  enum class Access { none, read_only, read_write };

  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  /// The first `size_bytes` of a memfd.
  static Result<Mapping> map(int descriptor, std::size_t size_bytes, Access access);

  explicit operator bool() const { return !bytes_.empty(); }
  std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// Zeroed memory that is gone with its last descriptor and mapping; nobody can change its size. `name` is
/// only for people who look at /proc.
Result<FileDescriptor> create_memory(const char* name, std::uint64_t size_bytes);

/// The same, which can be made longer, and not shorter.
Result<FileDescriptor> create_growing_memory(const char* name, std::uint64_t first_bytes);

/// Another descriptor of the same memory through which it cannot be written.
Result<FileDescriptor> reopen_read_only(int descriptor);

Result<std::uint64_t> size_of(int descriptor);

/// Whether the limit on the size of files (RLIMIT_FSIZE) allows so many bytes: to make one longer ends the
/// process (SIGXFSZ).
bool files_may_have(std::uint64_t size_bytes);

/// Errors: out_of_resources (files_may_have() says no).
Status check_file_limit(std::uint64_t size_bytes);

/// Makes a file so long, where that is allowed. Errors: out_of_resources (it is not), those of the system.
Status set_size(int descriptor, std::uint64_t size_bytes);

/// An eventfd that neither blocks nor survives exec.
Result<FileDescriptor> create_eventfd();
void ring(int eventfd);
void clear(int eventfd);

}  // namespace llamada::llamanet
