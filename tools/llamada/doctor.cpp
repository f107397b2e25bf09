#include "doctor.hpp"

#include <fmt/core.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "llamada/llamanet/memory_source.hpp"

namespace llamada::tools {
namespace {

constexpr rlim_t descriptors_wanted = 4096;

void say(bool is_good, std::string_view subject, std::string_view text) {
  fmt::print("{:<8}{:<14}{}\n", is_good ? "ok" : "could", subject, text);
}

std::optional<std::string> first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

void diagnose_arenas() {
  if (llamanet::MemorySource::open().has_own_mount())
    return say(true, "arenas",
               "in a tmpfs that belongs to their driver, which gives large folios and huge pages");
  say(false, "arenas",
      "user namespaces are off, or a container forbids them, so arenas are memfds of 4 KiB pages: kept logs "
      "grow at a fifth of the rate");
}

void diagnose_membarrier() {
  long supported = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (supported > 0 && (supported & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0)
    return say(true, "membarrier", "available: senders need no fence to wake a sleeper");
  say(false, "membarrier",
      "refused (old kernel, or a seccomp filter): each send pays for a fence, 5 to 20 ns");
}

std::string readable(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{} KiB", limit >> 10);
}

void diagnose_limits() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
    say(true, "memlock",
        fmt::format("{}: Llamada locks no memory within a node, so any limit is enough",
                    readable(limit.rlim_cur)));
  if (::getrlimit(RLIMIT_AS, &limit) == 0) {
    if (limit.rlim_cur == RLIM_INFINITY)
      say(true, "address space", "unlimited");
    else
      say(false, "address space",
          fmt::format("'ulimit -v unlimited': under the limit of {} the arenas of a job are smaller than 8 "
                      "GiB each, so logs fill up sooner",
                      readable(limit.rlim_cur)));
  }
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    if (limit.rlim_max >= descriptors_wanted)
      say(true, "open files", fmt::format("up to {}", limit.rlim_max));
    else
      say(false, "open files",
          fmt::format("'ulimit -Hn {}': llamanetd needs 7 descriptors for each rank, a rank 2 for each other "
                      "rank; the limit is {}",
                      descriptors_wanted, limit.rlim_max));
  }
}

void diagnose_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  int usable = CPU_COUNT(&allowed);
  long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (usable < online)
    return say(
        false, "cores",
        fmt::format("this shell may use {} of {} cores; ranks beyond {} yield instead of spinning, at a few "
                    "microseconds for each message",
                    usable, online, usable));
  say(true, "cores",
      fmt::format("{}: up to this many ranks spin while they wait; more ranks yield at once", online));
}

void diagnose_memory() {
  auto overcommit = first_line("/proc/sys/vm/overcommit_memory");
  if (!overcommit) return;
  say(true, "overcommit",
      fmt::format("vm.overcommit_memory is {}; arenas are not counted before their pages are written",
                  *overcommit));
}

}  // namespace

int diagnose() {
  diagnose_arenas();
  diagnose_membarrier();
  diagnose_limits();
  diagnose_cores();
  diagnose_memory();
  return 0;
}

int diagnose_nodes(const std::vector<std::string>& options) {
  std::error_code error;
  const std::string own = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string mpirun = std::filesystem::path(own).parent_path() / "mpirun";
  std::vector<std::string> words{mpirun, "--check-nodes"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(mpirun.c_str(), arguments.data());
  fmt::print(stderr, "llamada: {} cannot be executed: {}\n", mpirun, std::strerror(errno));
  return 1;
}

}  // namespace llamada::tools
