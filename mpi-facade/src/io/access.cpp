#include "io/access.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/crc32c.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi::io {
namespace {

/// Data that do not lie in one piece in memory are moved in parts of so many bytes.
constexpr std::size_t part_bytes_max = std::size_t{4} << 20;
/// Runs shorter than this are read together with what lies between them.
constexpr std::size_t sieved_run_bytes_max = 4096;
constexpr std::size_t sieve_bytes = 64 * 1024;
/// Reads of files that nobody in the job writes are kept in the ledger up to this size, larger ones as a
/// digest.
constexpr std::uint64_t kept_read_bytes_max = 64 * 1024;

/// A piece of the file that was read with the gaps between its runs.
class Sieve {
 public:
  explicit Sieve(Storage& storage) : storage_(storage) {}

  /// Reads the beginning of `run`; `last`: nothing comes behind it.
  Result<std::size_t> read(const FileRun& run, std::span<std::byte> bytes, bool last) {
    const bool inside = run.offset >= begin_ && run.offset + bytes.size() <= begin_ + valid_;
    if (!inside) {
      if (last || run.length > sieved_run_bytes_max || is_wasteful()) return storage_.read(bytes, run.offset);
      buffer_.resize(sieve_bytes);
      auto got = storage_.read(buffer_, run.offset);
      if (!got) return got;
      begin_ = run.offset;
      valid_ = *got;
      bytes_read_ += *got;
    }
    const std::size_t there = std::min<std::size_t>(bytes.size(), begin_ + valid_ - run.offset);
    std::memcpy(bytes.data(), buffer_.data() + (run.offset - begin_), there);
    bytes_used_ += there;
    return there;
  }

 private:
  /// Whether most of what was read so far was of no use.
  bool is_wasteful() const { return bytes_read_ >= 4 * sieve_bytes && bytes_used_ * 16 < bytes_read_; }

  Storage& storage_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;
  std::size_t valid_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_used_ = 0;
};

/// Walks over the packed stream of a buffer in parts that lie in one piece: in place, or packed into a copy.
class Parts {
 public:
  explicit Parts(const Buffer& buffer) : buffer_(buffer), left_(buffer.bytes()) {}

  bool done() const { return left_ == 0; }
  std::span<std::byte> next() {
    first_ += size_;
    size_ = buffer_.contiguous() ? left_ : std::min(left_, part_bytes_max);
    left_ -= size_;
    if (std::byte* memory = buffer_.contiguous()) return {memory + first_, size_};
    copy_.resize(size_);
    return copy_;
  }
  /// Between next() and the use of what it gave: with the data to be written.
  void pack() {
    if (!buffer_.contiguous()) buffer_.pack(first_, copy_);
  }
  /// After the first `bytes` of what next() gave have been read.
  void unpack(std::size_t bytes) {
    if (!buffer_.contiguous()) buffer_.unpack(first_, std::span(copy_).first(bytes));
  }

 private:
  const Buffer& buffer_;
  std::size_t left_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::vector<std::byte> copy_;
};

std::uint32_t digest_of_access(const Access& access, std::uint32_t data) {
  return digest({access.position, access.bytes, access.file.view.displacement(), data});
}

/// Of all data in the order of the stream.
std::uint32_t digest_of_data(const Buffer& buffer) {
  std::uint32_t crc = 0;
  for (Parts parts(buffer); !parts.done();) {
    const auto part = parts.next();
    parts.pack();
    crc = crc32c(part, crc);
  }
  return crc;
}

Buffer plain(std::span<std::byte> bytes) {
  return {bytes.data(), bytes.size(), runtime().datatypes.find(MPI_BYTE)};
}

Result<std::optional<Storage::Lock>> lock_if_atomic(const Access& access, bool for_writing) {
  std::optional<Storage::Lock> lock;
  if (!access.file.atomic || access.bytes == 0 || access.file.view.is_empty()) return lock;
  const Reach reach = reach_of(access);
  auto locked = access.file.storage.lock(for_writing, reach.begin, reach.end - reach.begin);
  if (!locked) return propagate(locked);
  lock.emplace(std::move(*locked));
  return lock;
}

Status write_now(const Access& access, const Buffer& stream) {
  auto lock = lock_if_atomic(access, true);
  if (!lock) return propagate(lock);
  RunCursor cursor(access.file.view, access.position, access.bytes);
  for (Parts parts(stream); !parts.done();) {
    const auto part = parts.next();
    parts.pack();
    if (auto status = write_runs(access.file.storage, cursor, part); !status) return status;
    LLAMADA_CRASH_POINT("file:part-written");
  }
  return {};
}

/// Reads into `stream`, from `source(bytes)`; gives how many bytes there were. `seen` is called with each
/// piece.
template <typename Source, typename Seen>
Result<std::uint64_t> read_parts(const Buffer& stream, Source source, Seen seen) {
  std::uint64_t done = 0;
  for (Parts parts(stream); !parts.done();) {
    const auto part = parts.next();
    auto got = source(part);
    if (!got) return propagate(got);
    seen(std::span<const std::byte>(part.first(*got)));
    parts.unpack(*got);
    done += *got;
    if (*got < part.size()) break;
  }
  return done;
}

template <typename Seen>
Result<std::uint64_t> read_now(const Access& access, const Buffer& stream, Seen seen) {
  auto lock = lock_if_atomic(access, false);
  if (!lock) return propagate(lock);
  RunCursor cursor(access.file.view, access.position, access.bytes);
  return read_parts(
      stream, [&](std::span<std::byte> bytes) { return read_runs(access.file.storage, cursor, bytes); },
      seen);
}

/// A read that a predecessor has done: with the data that it got, or with those of the file if they are still
/// the same.
Result<std::uint64_t> read_again(const Access& access, const Buffer& stream, Ledger& ledger) {
  const Ledger::Entry entry = ledger.take(OperationKind::read, digest_of_access(access, 0));
  if (entry.error_number != 0) return file_failure(access.file.name, "read", entry.error_number);
  if (entry.has_data) {
    std::span<const std::byte> left = entry.data;
    return read_parts(
        stream,
        [&](std::span<std::byte> bytes) -> Result<std::size_t> {
          const std::size_t size = std::min(bytes.size(), left.size());
          if (size > 0) std::memcpy(bytes.data(), left.data(), size);
          left = left.subspan(size);
          return size;
        },
        [](std::span<const std::byte>) {});
  }
  reach(access.file, ledger);
  std::uint32_t crc = 0;
  std::uint64_t left = entry.value;
  RunCursor cursor(access.file.view, access.position, access.bytes);
  auto done = read_parts(
      stream,
      [&](std::span<std::byte> bytes) {
        const auto wanted = bytes.first(std::min<std::uint64_t>(bytes.size(), left));
        left -= wanted.size();
        return read_runs(access.file.storage, cursor, wanted);
      },
      [&](std::span<const std::byte> bytes) { crc = crc32c(bytes, crc); });
  if (!done) return done;
  if (*done != entry.value || crc != entry.data_digest)
    ledger.diverged(fmt::format("{} has changed since the rank read it", access.file.name));
  return done;
}

Result<std::uint64_t> read_recorded(const Access& access, const Buffer& stream) {
  auto found = files().ledger();
  if (!found) return propagate(found);
  Ledger& ledger = **found;
  if (ledger.replaying()) return read_again(access, stream, ledger);
  reach(access.file, ledger);
  Ledger::Entry entry;
  entry.kind = OperationKind::read;
  entry.has_data = access.file.is_writable() || access.bytes <= kept_read_bytes_max;
  auto done = read_now(access, stream, [&](std::span<const std::byte> bytes) {
    if (!ledger.recording()) return;
    entry.data_digest = crc32c(bytes, entry.data_digest);
    if (entry.has_data) ledger.keep(bytes);
  });
  entry.digest = digest_of_access(access, 0);
  entry.value = done.value_or(0);
  entry.error_number = done ? 0 : done.error().system_errno();
  if (!done) entry.has_data = false;
  ledger.record(entry);
  return done;
}

}  // namespace

Reach reach_of(const Access& access) {
  if (access.bytes == 0 || access.file.view.is_empty()) return {};
  const View& view = access.file.view;
  return {view.file_offset(access.position), view.file_offset(access.position + access.bytes - 1) + 1};
}

Status write_runs(Storage& storage, RunCursor& cursor, std::span<const std::byte> bytes) {
  while (!bytes.empty() && cursor.current()) {
    const FileRun run = *cursor.current();
    const auto piece = bytes.first(std::min(bytes.size(), run.length));
    if (auto status = storage.write(piece, run.offset); !status) return status;
    cursor.advance(piece.size());
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Result<std::size_t> read_runs(Storage& storage, RunCursor& cursor, std::span<std::byte> bytes) {
  Sieve sieve(storage);
  std::size_t done = 0;
  while (done < bytes.size() && cursor.current()) {
    const FileRun run = *cursor.current();
    const auto piece = bytes.subspan(done, std::min(bytes.size() - done, run.length));
    auto got = sieve.read(run, piece, done + piece.size() == bytes.size());
    if (!got) return got;
    done += *got;
    cursor.advance(*got);
    if (*got < piece.size()) break;
  }
  return done;
}

Result<std::span<const std::byte>> stream_of(const Access& access, std::vector<std::byte>& copy) {
  const Representation& representation = *access.file.representation;
  if (representation.is_plain(false) && access.buffer.contiguous())
    return std::span<const std::byte>(access.buffer.contiguous(), access.bytes);
  copy.resize(access.bytes);
  auto status = representation.to_file(access.buffer.base, access.buffer.count, *access.buffer.type, copy);
  if (!status) return propagate(status);
  return std::span<const std::byte>(copy);
}

Status write(const Access& access) {
  std::vector<std::byte> converted;
  Buffer stream = access.buffer;
  if (!access.file.representation->is_plain(false)) {
    auto bytes = stream_of(access, converted);
    if (!bytes) return propagate(bytes);
    stream = plain(converted);
  }
  auto ledger = files().ledger();
  if (!ledger) return propagate(ledger);
  const bool compared = (*ledger)->recording() || (*ledger)->replaying();
  const std::uint32_t data = compared ? digest_of_data(stream) : 0;
  auto done = perform(&access.file, access.file.name, OperationKind::write, digest_of_access(access, data),
                      [&]() -> Result<std::uint64_t> {
                        auto status = write_now(access, stream);
                        if (!status) return propagate(status);
                        return access.bytes;
                      });
  if (!done) return propagate(done);
  return {};
}

Result<std::uint64_t> read(const Access& access) {
  const Representation& representation = *access.file.representation;
  if (representation.is_plain(true)) return read_recorded(access, access.buffer);
  std::vector<std::byte> file_bytes(access.bytes);
  auto done = read_recorded(access, plain(file_bytes));
  if (!done) return done;
  auto native = representation.from_file(file_bytes, *done, access.buffer.base, access.buffer.count,
                                         *access.buffer.type);
  if (!native) return propagate(native);
  return static_cast<std::uint64_t>(*native);
}

}  // namespace llamada::mpi::io
