#include "adopted_ranks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "process_watch.hpp"

namespace llamada::launcher {

Result<std::map<std::uint32_t, pid_t>> parse_adopted(std::string_view text) {
  std::map<std::uint32_t, pid_t> processes;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const char* const end = entry.data() + entry.size();
    std::uint32_t slot = 0;
    pid_t process = 0;
    const auto behind = std::from_chars(entry.data(), end, slot);
    const bool has_both = behind.ec == std::errc() && behind.ptr != end && *behind.ptr == ':';
    const auto read = std::from_chars(has_both ? behind.ptr + 1 : end, end, process);
    if (read.ec != std::errc() || read.ptr != end || process <= 0 || !processes.emplace(slot, process).second)
      return failure(Errc::parse_error, "'{}' does not name a rank and its process", entry);
  }
  return processes;
}

AdoptedRanks::AdoptedRanks(EventLoop& loop, Adoption adoption, Actions actions)
    : loop_(loop), adoption_(std::move(adoption)), actions_(std::move(actions)) {
  for (const FileDescriptor* each : {&adoption_.report, &adoption_.manager})
    if (*each) fcntl(each->get(), F_SETFD, FD_CLOEXEC);
  for (const auto& [slot, pid] : adoption_.processes) watch(slot, pid);
  if (adoption_.manager) watch_manager();
}

/// Its bytes are for the rank.
void AdoptedRanks::watch_manager() {
  loop_.watch(adoption_.manager.get(), POLLRDHUP, [this](short) {
    loop_.forget(adoption_.manager.get());
    adoption_.manager.reset();
    actions_.manager_ended();
  });
}

AdoptedRanks::~AdoptedRanks() {
  if (adoption_.manager) loop_.forget(adoption_.manager.get());
  for (const auto& [slot, process] : watched_) loop_.forget(process.get());
}

void AdoptedRanks::watch(std::uint32_t slot, pid_t pid) {
  const auto ended = [this, slot] {
    let_go(slot);
    actions_.ended(slot);
  };
  FileDescriptor process = open_pidfd(pid);
  if (!process) {
    loop_.after(std::chrono::nanoseconds(0), ended);
    return;
  }
  loop_.watch(process.get(), POLLIN, [ended](short) { ended(); });
  watched_[slot] = std::move(process);
}

void AdoptedRanks::let_go(std::uint32_t slot) {
  const auto found = watched_.find(slot);
  if (found == watched_.end()) return;
  loop_.forget(found->second.get());
  watched_.erase(found);
}

void AdoptedRanks::signal(std::uint32_t slot, int number) const {
  if (const auto found = watched_.find(slot); found != watched_.end())
    syscall(SYS_pidfd_send_signal, found->second.get(), number, nullptr, 0);
}

void AdoptedRanks::signal_all(int number) const {
  for (const auto& each : watched_) signal(each.first, number);
}

void AdoptedRanks::report(const std::string& line) const {
  const std::string text = line + '\n';
  (void)!write(adoption_.report.get(), text.data(), text.size());
}

}  // namespace llamada::launcher
