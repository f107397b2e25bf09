#include "interpose/transfers.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "interpose/appending.hpp"
#include "interpose/file_calls.hpp"
#include "interpose/opening.hpp"
#include "interpose/standard_input.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

/// A longer read gives so much, as the kernel does with 2 GiB and more.
constexpr std::size_t read_bytes_max = std::size_t{1} << 30;

ssize_t real_pread(int descriptor, void* buffer, std::size_t size_bytes, off_t place) {
  return place == at_offset ? real_read(descriptor, buffer, size_bytes)
                            : syscall(SYS_pread64, descriptor, buffer, size_bytes, place);
}

ssize_t real_pwrite(int descriptor, const void* bytes, std::size_t size_bytes, off_t place) {
  return place == at_offset ? real_write(descriptor, bytes, size_bytes)
                            : syscall(SYS_pwrite64, descriptor, bytes, size_bytes, place);
}

}  // namespace

ssize_t read_followed(Determinants& determinants, int descriptor, const Followed& what, void* buffer,
                      std::size_t size_bytes, off_t place) {
  Query reading{.call = FileCall::read};
  reading.digest = Arguments().number(size_bytes).number(place).digest();
  reading.ask = [&](std::vector<std::byte>& answer) {
    must_be_there(determinants, descriptor, what);
    const std::size_t head = answer.size();
    answer.resize(head + std::min(size_bytes, read_bytes_max));
    const auto outcome =
        FileOutcome::of(real_pread(descriptor, answer.data() + head, answer.size() - head, place));
    answer.resize(head + static_cast<std::size_t>(std::max(outcome.result, 0L)));
    return outcome;
  };
  reading.take = [&](std::span<const std::byte> answer, bool repeated) {
    if (!answer.empty()) std::memcpy(buffer, answer.data(), std::min(answer.size(), size_bytes));
    if (repeated && place == at_offset) real_lseek(descriptor, static_cast<off_t>(answer.size()), SEEK_CUR);
  };
  return query(determinants, reading);
}

ssize_t write_followed(Determinants& determinants, int descriptor, const Followed& what, const void* bytes,
                       std::size_t size_bytes, off_t place) {
  // pwrite() to a file that is open for appending appends (write(2), BUGS).
  if (what.what == Following::appended && size_bytes > 0) {
    const off_t before = real_lseek(descriptor, 0, SEEK_CUR);
    const ssize_t count = append(determinants, descriptor, what, bytes, size_bytes);
    if (place != at_offset) real_lseek(descriptor, before, SEEK_SET);
    return count;
  }
  Change writing{.call = FileCall::write};
  writing.digest = Arguments().add(bytes, size_bytes).number(size_bytes).number(place).digest();
  writing.act = [&](std::uint64_t, bool) {
    must_be_there(determinants, descriptor, what);
    return FileOutcome::of(real_pwrite(descriptor, bytes, size_bytes, place));
  };
  writing.repeated = [&](std::uint64_t, const FileOutcome& outcome) {
    if (outcome.result <= 0) return;
    const off_t begin = place == at_offset ? real_lseek(descriptor, 0, SEEK_CUR) : place;
    const auto count = static_cast<std::size_t>(outcome.result);
    if (what.standing != Standing::real)
      write_at(descriptor, static_cast<std::uint64_t>(begin), static_cast<const std::byte*>(bytes), count);
    if (place == at_offset) real_lseek(descriptor, begin + outcome.result, SEEK_SET);
  };
  return change(determinants, writing);
}

ssize_t read_any(int descriptor, void* buffer, std::size_t size_bytes) {
  if (auto* rank = is_standard_input(descriptor) ? determinants_of_caller() : nullptr)
    return read_input(*rank, descriptor, buffer, size_bytes);
  const Followed what = following(descriptor);
  auto* determinants = what.what == Following::nothing ? nullptr : determinants_of_caller();
  return determinants ? read_followed(*determinants, descriptor, what, buffer, size_bytes)
                      : real_read(descriptor, buffer, size_bytes);
}

ssize_t write_any(int descriptor, const void* bytes, std::size_t size_bytes) {
  const Followed what = following(descriptor);
  auto* determinants = what.what == Following::nothing ? nullptr : determinants_of_caller();
  return determinants ? write_followed(*determinants, descriptor, what, bytes, size_bytes)
                      : real_write(descriptor, bytes, size_bytes);
}

off_t seek(Determinants* determinants, int descriptor, off_t offset, int whence) {
  const Followed what = whence == SEEK_END ? following(descriptor) : Followed{};
  if (!determinants || what.what == Following::nothing) return real_lseek(descriptor, offset, whence);
  if (!determinants->replaying()) must_be_there(*determinants, descriptor, what);
  const auto end = determinants->read_value(ValueId::file_end, size_of(descriptor));
  return real_lseek(descriptor, static_cast<off_t>(end) + offset, SEEK_SET);
}

long truncate_followed(Determinants& determinants, int descriptor, off_t size_bytes) {
  const Followed what = following(descriptor);
  Change truncation{.call = FileCall::truncate};
  truncation.digest = Arguments().number(size_bytes).digest();
  truncation.act = [&](std::uint64_t, bool) {
    must_be_there(determinants, descriptor, what);
    return FileOutcome::of(syscall(SYS_ftruncate, descriptor, size_bytes));
  };
  truncation.repeated = [&](std::uint64_t, const FileOutcome& outcome) {
    if (outcome.result == 0 && what.standing != Standing::real)
      syscall(SYS_ftruncate, descriptor, size_bytes);
  };
  return change(determinants, truncation);
}

}  // namespace llamada::mpi::interpose
