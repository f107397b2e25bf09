#include "interpose/last_name.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/appending.hpp"
#include "interpose/descriptors.hpp"
#include "interpose/file_calls.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

constexpr std::size_t copied_bytes_max = 1 << 20;

/// A descriptor by which the rank reads this file.
int reading(std::uint64_t file) {
  for (int descriptor = file == 0 ? -1 : next_followed(0, file); descriptor >= 0;
       descriptor = next_followed(descriptor + 1, file)) {
    const Followed what = following(descriptor);
    if (what.what == Following::kept && what.standing == Standing::real) return descriptor;
  }
  return -1;
}

bool lease(int descriptor, long kind) {
  // Who waits to open the file for writing makes a signal; this one does no harm.
  return syscall(SYS_fcntl, descriptor, F_SETSIG, kind == F_UNLCK ? 0 : SIGURG) == 0 &&
         syscall(SYS_fcntl, descriptor, F_SETLEASE, kind) == 0;
}

FileOutcome read_all(int descriptor, std::vector<std::byte>& answer) {
  const std::size_t head = answer.size();
  const std::uint64_t size_bytes = size_of(descriptor);
  if (size_bytes > copied_bytes_max) return {-1, EFBIG};
  answer.resize(head + size_bytes);
  const long count = syscall(SYS_pread64, descriptor, answer.data() + head, size_bytes, 0);
  if (count == static_cast<long>(size_bytes)) return {count, 0};
  answer.resize(head);
  return {-1, EIO};
}

/// Gives what was in the file to the files that stand for it.
void fill(std::uint64_t file, std::span<const std::byte> content) {
  for (int descriptor = next_followed(0, file); descriptor >= 0;
       descriptor = next_followed(descriptor + 1, file)) {
    const Followed what = following(descriptor);
    if (what.what != Following::kept || what.standing == Standing::real) continue;
    syscall(SYS_ftruncate, descriptor, content.size());
    write_at(descriptor, 0, content.data(), content.size());
    follow(descriptor, {what.what, Standing::copied, file});
  }
}

}  // namespace

LastName::LastName(Determinants& determinants, std::uint64_t file) {
  const std::uint64_t now = !determinants.replaying() && reading(file) >= 0 ? file : 0;
  const std::uint64_t read = determinants.read_value(ValueId::file_before, now);
  if (read == 0) return;
  Query keeping{.call = FileCall::read, .digest = Arguments().number(read).digest()};
  keeping.ask = [&](std::vector<std::byte>& answer) {
    leased_ = reading(read);
    if (leased_ < 0 || !lease(leased_, F_RDLCK)) return FileOutcome{-1, EAGAIN};
    return read_all(leased_, answer);
  };
  std::vector<std::byte> content;
  bool is_repeated = false;
  keeping.take = [&](std::span<const std::byte> answer, bool repeated) {
    content.assign(answer.begin(), answer.end());
    is_repeated = repeated;
  };
  if (query(determinants, keeping) >= 0 && is_repeated) fill(read, content);
}

LastName::~LastName() {
  const int error_number = errno;
  if (leased_ >= 0) lease(leased_, F_UNLCK);
  errno = error_number;
}

}  // namespace llamada::mpi::interpose
