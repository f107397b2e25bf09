#include "arena_memory.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "llamada/base/copy.hpp"
#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/llamanet/memory_source.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::uint64_t prepared_step_bytes = 128 << 10;
/// Less is made by the touch, where the file is that long already.
constexpr std::uint64_t prepared_bytes_min = 64 << 10;
/// The file of an arena grows from one multiple of this to the next: by folios of this size then, which fit
/// into the cache while they are cleared and then filled. A rank that waits has time for huge pages, which
/// are mapped at once.
constexpr std::uint64_t grown_bytes = log::stored_whole_bytes;
constexpr std::uint64_t grown_ahead_bytes = 2 << 20;
/// What is written again and again where memory is to be zero.
alignas(page_bytes) constexpr std::array<std::byte, 32 << 10> zeros{};

}  // namespace

void use_small_pages_at_first(std::span<std::byte> memory) {
  ::madvise(memory.data(), std::min(memory.size(), arena_bytes_at_first), MADV_NOHUGEPAGE);
}

Result<std::unique_ptr<ArenaMemory>> ArenaMemory::map(FileDescriptor file, std::uint64_t size_bytes,
                                                      Lengthen lengthen, bool is_on_disk) {
  auto file_bytes = size_of(file.get());
  if (!file_bytes) return propagate(file_bytes);
  auto mapping = Mapping::map(file.get(), size_bytes, Mapping::Access::none);
  if (!mapping) return propagate(mapping);
  std::unique_ptr<ArenaMemory> memory(new ArenaMemory);
  memory->file_ = KeptDescriptor(std::move(file));
  memory->mapping_ = std::move(*mapping);
  memory->lengthen_ = std::move(lengthen);
  memory->file_end_ = memory->open_end_ = memory->data();
  if (!memory->extend_to(memory->data() + std::min<std::uint64_t>(*file_bytes, memory->size())))
    return system_failure("mprotect of an arena");
  if (is_on_disk) memory->reserved_end_ = memory->data();
  use_small_pages_at_first(memory->bytes());
  return memory;
}

/// Notes that the file ends there, or behind it. False: the mapping cannot be made accessible so far.
bool ArenaMemory::extend_to(std::byte* end) {
  if (end > open_end_) {
    auto* const open_end =
        data() +
        std::min<std::uint64_t>(rounded_up(static_cast<std::uint64_t>(end - data()), opened_bytes), size());
    // Not libc's mprotect(), which within a rank may be another's.
    if (::syscall(SYS_mprotect, open_end_, open_end - open_end_, PROT_READ | PROT_WRITE) != 0) return false;
    open_end_ = open_end;
  }
  file_end_ = std::max(file_end_, end);
  return true;
}

bool ArenaMemory::prepare(std::span<std::byte> memory) { return prepare(memory, grown_bytes); }

bool ArenaMemory::prepare(std::span<std::byte> memory, std::uint64_t unit) {
  auto* const end = memory.data() + memory.size();
  if (end <= file_end_ && memory.size() < prepared_bytes_min) return true;
  for (auto* begin = std::max(memory.data(), prepared_until_); begin < end;
       begin = std::max(begin, prepared_until_)) {
    const auto size = std::min<std::size_t>(prepared_step_bytes, static_cast<std::size_t>(end - begin));
    if (write(begin, {}, size, unit) == 0) break;  // refused: the pages are made when they are used
  }
  if (!reach(end)) return false;
  prepared_until_ = std::max(prepared_until_, end);
  return true;
}

std::size_t ArenaMemory::store(std::span<std::byte> to, std::span<const std::byte> from) {
  if (to.data() < prepared_until_) {
    const auto made = static_cast<std::size_t>(prepared_until_ - to.data());
    const std::size_t size = std::min({made, log::stored_at_once_bytes, to.size()});
    copy_bytes(to.data(), from.data(), size);
    return size;
  }
  const std::size_t size = std::min<std::size_t>(from.size(), grown_bytes);
  if (const std::size_t written = write(to.data(), from.first(size), 0, grown_bytes))
    return std::min(written, size);
  if (!reach(to.data() + to.size())) {
    std::fputs(
        "llamada: out of memory for the message log (the arena cannot grow); this process is aborted\n",
        stderr);
    std::abort();
  }
  return 0;
}

// How much it wrote: `from`, zeros behind it, and where that makes the file longer, more of them up to the
// next multiple of `unit`. What it began within the file, the kernel may have made in one piece that is
// larger; to do so again would only take time.
std::size_t ArenaMemory::write(std::byte* to, std::span<const std::byte> from, std::size_t zeros_bytes,
                               std::uint64_t unit) {
  const auto at = static_cast<std::uint64_t>(to - data());
  std::uint64_t end = at + from.size() + zeros_bytes;
  const bool grows = data() + end > file_end_;
  if (grows) end = std::min<std::uint64_t>(rounded_up(end, unit), size());
  if (reserved_end_ != nullptr) {
    // Not beyond what is reserved.
    if (!reach(data() + at + from.size() + zeros_bytes)) return 0;
    end = std::min(end, static_cast<std::uint64_t>(reserved_end_ - data()));
  }
  if (!files_may_have(end)) return 0;  // a program may have set a limit since
  std::array<iovec, 2 + (prepared_step_bytes + grown_ahead_bytes) / zeros.size()> pieces;
  std::size_t count = 0;
  if (!from.empty()) pieces[count++] = {const_cast<std::byte*>(from.data()), from.size()};
  for (std::uint64_t next = at + from.size(); next < end; next += pieces[count++].iov_len)
    pieces[count] = {const_cast<std::byte*>(zeros.data()), std::min<std::size_t>(zeros.size(), end - next)};
  // Not libc's pwritev() and lseek(), which within a rank may be another's.
  const long written = ::syscall(SYS_pwritev, file_.get(), pieces.data(), count, at, 0);
  if (written <= 0) return 0;
  auto* const written_end = to + written;
  if (!extend_to(written_end)) return 0;
  const bool may_be_larger = !grows && reserved_end_ == nullptr;
  const long hole = may_be_larger ? ::syscall(SYS_lseek, file_.get(), written_end - data(), SEEK_HOLE) : 0;
  prepared_until_ = std::max({prepared_until_, written_end, data() + std::max(hole, 0L)});
  return static_cast<std::size_t>(written);
}

// Makes the file at least that long, without making memory.
bool ArenaMemory::reach(const std::byte* end) {
  if (reserved_end_ != nullptr) return reserve(end).has_value();
  if (end <= file_end_) return true;
  const auto bytes = static_cast<std::uint64_t>(end - data());
  if (set_size(file_.get(), bytes)) return extend_to(data() + bytes);
  return lengthen_() && extend_to(data() + size());
}

Status ArenaMemory::reserve(const std::byte* end) {
  if (reserved_end_ == nullptr || end <= reserved_end_) return {};
  const auto begin_bytes = static_cast<std::uint64_t>(reserved_end_ - data());
  const std::uint64_t end_bytes =
      std::min<std::uint64_t>(rounded_up(static_cast<std::uint64_t>(end - data()), page_bytes), size());
  // Within the file there is no limit on its size.
  if (!files_may_have(end_bytes) && !lengthen_())
    return failure(Errc::out_of_resources,
                   "the limit on the size of files (ulimit -f) leaves no room for the logs");
  disk_error_ = reserve_on_disk(file_.get(), begin_bytes, end_bytes);
  if (disk_error_ != 0)
    return failure(Errc::out_of_resources, "{}", why_no_room(disk_error_, "the directory of the logs"));
  if (!extend_to(data() + end_bytes))
    return failure(Errc::out_of_resources, "the mapping of an arena cannot be made accessible");
  reserved_end_ = data() + end_bytes;
  return {};
}

void ArenaMemory::prepare_ahead(std::span<std::byte> next) {
  auto* begin = std::max(next.data(), prepared_until_);
  auto* end = next.data() + next.size();
  if (reserved_end_ != nullptr) end = std::min(end, reserved_end_);
  if (begin < end)
    prepare({begin, std::min<std::size_t>(prepared_step_bytes, static_cast<std::size_t>(end - begin))},
            grown_ahead_bytes);
}

Status ArenaMemory::populate(std::span<std::byte> next) {
  if (next.empty()) return {};
  if (reserved_end_ != nullptr) return reserve(next.data() + next.size());
  auto* const end = next.data() + next.size();
  if (!reach(end))
    return failure(Errc::out_of_resources, "the arena's file may not be {} bytes longer", next.size());
  if (::madvise(next.data(), next.size(), MADV_POPULATE_WRITE) != 0)
    return failure(Errc::out_of_resources, "{} bytes of memory cannot be made: {}", next.size(),
                   std::strerror(errno));
  prepared_until_ = std::max(prepared_until_, end);
  return {};
}

Status ArenaMemory::follow_file() {
  auto file_bytes = size_of(file_.get());
  if (!file_bytes) return propagate(file_bytes);
  if (!extend_to(data() + std::min<std::uint64_t>(*file_bytes, size())))
    return failure(Errc::out_of_resources, "the mapping of an arena cannot be made accessible");
  return {};
}

// Whatever a destructor in the child does to its copies: nobody else sees it.
void ArenaMemory::seal() {
  const auto open_bytes = static_cast<std::size_t>(open_end_ - data());
  void* const own =
      ::mmap(data(), open_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file(), 0);
  if (own == MAP_FAILED) ::mprotect(data(), open_bytes, PROT_READ);
  (void)file_.release().release();  // a descriptor that the program may have closed, and made another file's
  lengthen_ = [] { return false; };
}

}  // namespace llamada::llamanet
