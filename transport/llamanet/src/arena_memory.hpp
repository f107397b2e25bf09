#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/kept_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {

/// Directories, and the logs of those who send little, are used in parts: there a touch makes and maps small
/// pages. Behind them the kernel may map huge ones, of the owner's and of its readers' mappings.
void use_small_pages_at_first(std::span<std::byte> memory);

/// The memory of this process's own arena, which grows as it is used: the mapping is as long as the arena,
/// the file behind it only as long as it has to be. Memory is made by writing to the file: the kernel then
/// makes folios at least as large as the write, where a fault makes a page. The mapping is accessible up to
/// the file's end, in steps of `opened_bytes`, and reserves address space behind it: valgrind's search for
/// leaks looks at all that is accessible.
///
/// A file on a disk is used only as far as room is reserved there.
///
/// Threads: one at a time, the application's.
class ArenaMemory {
 public:
  /// Has the driver make the file as long as the arena, where the limit on the size of files (RLIMIT_FSIZE)
  /// forbids it to this process. False: it cannot.
  using Lengthen = std::function<bool()>;

  static constexpr std::uint64_t opened_bytes = 8 << 20;

  /// Maps the first `size_bytes` of `file`, which may be shorter. Errors: out_of_resources, those of the
  /// system.
  static Result<std::unique_ptr<ArenaMemory>> map(FileDescriptor file, std::uint64_t size_bytes,
                                                  Lengthen lengthen, bool is_on_disk = false);

  std::span<std::byte> bytes() const { return mapping_.bytes(); }
  std::byte* data() const { return mapping_.data(); }
  std::size_t size() const { return mapping_.size(); }
  int file() const { return file_.get(); }

  /// ArenaOptions::prepare. False: it cannot be had.
  bool prepare(std::span<std::byte> memory);
  /// ArenaOptions::store.
  std::size_t store(std::span<std::byte> to, std::span<const std::byte> from);
  /// Makes some of `next`, what the pool will grow into: what an application that has to wait may do
  /// meanwhile. Takes some microseconds.
  void prepare_ahead(std::span<std::byte> next);
  /// Makes and maps all of `next`; on a disk only reserves it. Errors: out_of_resources.
  Status populate(std::span<std::byte> next);
  /// Makes the file at least that long, without making memory. False: it may not be so long, or the mapping
  /// not be made accessible.
  bool reach(const std::byte* end);
  /// On a disk: reserves all up to there. Errors: out_of_resources.
  Status reserve(const std::byte* end);
  /// Why room could not be reserved on the disk the last time, as an errno; 0: it could.
  int disk_error() const { return disk_error_; }

  /// Another process has made the file longer. Errors: out_of_resources, those of the system.
  Status follow_file();

  /// From now on what this process writes to the arena is seen by nobody else, and it does not grow: for the
  /// child of a fork().
  void seal();

 private:
  ArenaMemory() = default;
  bool prepare(std::span<std::byte> memory, std::uint64_t unit);
  bool extend_to(std::byte* end);
  std::size_t write(std::byte* to, std::span<const std::byte> from, std::size_t zeros_bytes,
                    std::uint64_t unit);

  KeptDescriptor file_;
  Mapping mapping_;
  Lengthen lengthen_;
  std::byte* prepared_until_ = nullptr;  // what the pool grows into is made up to here
  std::byte* file_end_ = nullptr;        // what the mapping has behind it must not be touched
  std::byte* open_end_ = nullptr;        // behind it the mapping is only reserved; at or behind file_end_
  std::byte* reserved_end_ = nullptr;    // of a file on a disk; else null
  int disk_error_ = 0;
};

}  // namespace llamada::llamanet
