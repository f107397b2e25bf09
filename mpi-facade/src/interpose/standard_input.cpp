#include "interpose/standard_input.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "interpose/descriptors.hpp"
#include "interpose/signals.hpp"
#include "interpose/streams.hpp"
#include "interpose/waiting.hpp"
#include "llamada/base/crash_point.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

// Written before main(), read by all.
struct stat standard_input {};
bool comes_in_pieces = false;

FILE* stream_of_libc = nullptr;
FILE* stream_of_ours = nullptr;

bool is_null_device(const struct stat& found) {
  return S_ISCHR(found.st_mode) && major(found.st_rdev) == 1 && minor(found.st_rdev) == 3;
}

void wait_until_readable(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  syscall(SYS_ppoll, &one, 1, nullptr, nullptr, 0);
}

/// Exactly so many bytes, as its predecessor had read.
void read_again(Determinants& determinants, int descriptor, char* buffer, std::size_t size_bytes) {
  std::size_t done = 0;
  while (done < size_bytes) {
    const ssize_t got = real_read(descriptor, buffer + done, size_bytes - done);
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (got < 0 && (errno == EAGAIN || errno == EINTR))
      wait_until_readable(descriptor);
    else
      determinants.diverged(
          fmt::format("it reads {} bytes of standard input where its predecessor read {}", done, size_bytes));
  }
}

}  // namespace

void begin_standard_input() {
  if (real_fstat(STDIN_FILENO, &standard_input) != 0 || S_ISREG(standard_input.st_mode) ||
      is_null_device(standard_input))
    return;
  comes_in_pieces = true;
  stream_of_libc = stdin;
  stream_of_ours = make_stream(STDIN_FILENO, "r");
  if (stream_of_ours) stdin = stream_of_ours;
}

bool is_standard_input(int descriptor) {
  struct stat found {};
  return comes_in_pieces && real_fstat(descriptor, &found) == 0 && found.st_dev == standard_input.st_dev &&
         found.st_ino == standard_input.st_ino;
}

ssize_t read_input(Determinants& determinants, int descriptor, void* buffer, std::size_t size_bytes) {
  if (was_signal_delivered()) return interrupted();
  if (determinants.replaying()) {
    const FileOutcome outcome = unpacked_wait(determinants.read_value(ValueId::input_read, 0));
    if (outcome.result > static_cast<long>(size_bytes))
      determinants.diverged(
          fmt::format("it reads at most {} bytes of standard input where its predecessor read {}", size_bytes,
                      outcome.result));
    if (outcome.result > 0) {
      determinants.input_read();
      read_again(determinants, descriptor, static_cast<char*>(buffer),
                 static_cast<std::size_t>(outcome.result));
    }
    return end_of_wait(outcome);
  }
  const FileOutcome outcome = FileOutcome::of(real_read(descriptor, buffer, size_bytes));
  LLAMADA_CRASH_POINT("input:read");
  if (outcome.result > 0) determinants.input_read();
  determinants.record_value(ValueId::input_read, packed_wait(outcome));
  return end_of_wait(outcome);
}

FILE* give_back_standard_input(FILE* file) {
  if (!file || file != stream_of_ours) return file;
  stdin = stream_of_libc;
  return stream_of_libc;
}

}  // namespace llamada::mpi::interpose
