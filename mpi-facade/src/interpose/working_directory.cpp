#include "interpose/working_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <functional>
#include <string>

#include "interpose/file_calls.hpp"
#include "interpose/opening.hpp"

using namespace llamada::mpi;
using interpose::Arguments;
using interpose::FileCall;
using interpose::FileOutcome;
using interpose::Query;
using replay::Determinants;

namespace {

/// The directory that a replacement should be in, and that is gone; empty if it is where it should be. Only
/// the rank's thread uses it.
std::string& lost_directory() {
  static auto* path = new std::string;
  return *path;
}

void go_to(const std::string& path) {
  const bool is_gone = !path.empty() && syscall(SYS_chdir, path.c_str()) != 0;
  lost_directory() = is_gone ? path : "";
}

/// A change of the directory by `act`. What is recorded is the path that it led to.
int change_directory(Determinants& determinants, const Arguments& arguments,
                     const std::function<long()>& act) {
  Query changing{.call = FileCall::change_directory, .digest = arguments.digest()};
  changing.ask = [&](std::vector<std::byte>& answer) {
    const FileOutcome outcome = FileOutcome::of(act());
    char path[PATH_MAX];
    const long size_bytes = outcome.result == 0 ? syscall(SYS_getcwd, path, sizeof path) : 0;
    const auto* begin = reinterpret_cast<const std::byte*>(path);
    if (size_bytes > 1) answer.insert(answer.end(), begin, begin + size_bytes - 1);
    return outcome;
  };
  changing.take = [&](std::span<const std::byte> answer, bool repeated) {
    if (repeated) go_to({reinterpret_cast<const char*>(answer.data()), answer.size()});
  };
  return static_cast<int>(interpose::query(determinants, changing));
}

}  // namespace

void interpose::working_directory_must_be_there(Determinants& determinants) {
  if (!lost_directory().empty())
    determinants.diverged(
        fmt::format("the directory '{}' that its predecessor went to no longer exists", lost_directory()));
}

extern "C" {

LLAMADA_INTERPOSED int chdir(const char* path) noexcept {
  const auto act = [&] { return syscall(SYS_chdir, path); };
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return static_cast<int>(act());
  interpose::folder_must_be_there(*determinants, AT_FDCWD);
  return change_directory(*determinants, Arguments().add(path), act);
}

LLAMADA_INTERPOSED int fchdir(int folder) noexcept {
  const auto act = [&] { return syscall(SYS_fchdir, folder); };
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return static_cast<int>(act());
  interpose::folder_must_be_there(*determinants, folder);
  return change_directory(*determinants, Arguments(), act);
}

}  // extern "C"
