#include "process_tree.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "kernel_file.hpp"

namespace llamada::launcher {
namespace {

/// "PID (name) S PPID PGRP …"; the name may contain anything, so that the last ')' counts.
bool read_entry(pid_t pid, std::string& buffer, ProcessEntry& entry) {
  if (!read_kernel_file("/proc/" + std::to_string(pid) + "/stat", buffer)) return false;
  const std::size_t name_end = buffer.rfind(')');
  if (name_end == std::string::npos) return false;
  entry.pid = pid;
  return sscanf(buffer.c_str() + name_end + 1, " %c %d %d", &entry.state, &entry.parent, &entry.group) == 3;
}

std::vector<ProcessEntry> all_processes() {
  std::vector<ProcessEntry> processes;
  std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  if (!directory) return processes;
  std::string buffer;
  while (const dirent* file = readdir(directory.get())) {
    const pid_t pid = atoi(file->d_name);
    ProcessEntry entry;
    if (pid > 0 && read_entry(pid, buffer, entry)) processes.push_back(entry);
  }
  return processes;
}

/// Whether a child of this process is dead, or not there. It stays unreaped.
bool has_ended(pid_t child) {
  siginfo_t information{};
  const int found = waitid(P_PID, static_cast<id_t>(child), &information, WEXITED | WNOHANG | WNOWAIT);
  return found != 0 || information.si_pid == child;
}

/// Whether something was sent a signal that it will die of.
bool kill_descendants_once() {
  bool killed = false;
  for (const ProcessEntry& entry : descendants_of(getpid()))
    if (entry.state != 'Z' && entry.state != 'X')
      killed |= kill(entry.pid, SIGKILL) == 0 || errno == ESRCH;
    else
      killed = true;
  return killed;
}

}  // namespace

std::vector<ProcessEntry> descendants_of(pid_t ancestor) {
  std::unordered_multimap<pid_t, ProcessEntry> by_parent;
  for (const ProcessEntry& entry : all_processes()) by_parent.emplace(entry.parent, entry);
  std::vector<ProcessEntry> found;
  std::vector<pid_t> open{ancestor};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [first, last] = by_parent.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      open.push_back(child->second.pid);
    }
    by_parent.erase(first, last);
  }
  return found;
}

std::optional<std::vector<pid_t>> own_children() {
  std::string text;
  const std::string pid = std::to_string(getpid());
  if (!read_kernel_file("/proc/" + pid + "/task/" + pid + "/children", text)) return std::nullopt;
  std::vector<pid_t> children;
  for (const char* at = text.c_str(); *at != '\0';) {
    char* behind = nullptr;
    const long child = strtol(at, &behind, 10);
    if (behind == at) break;
    children.push_back(static_cast<pid_t>(child));
    at = behind + strspn(behind, " ");
  }
  return children;
}

std::vector<pid_t> ancestors_of(pid_t pid) {
  std::vector<pid_t> found;
  std::string buffer;
  ProcessEntry entry;
  while (read_entry(pid, buffer, entry) && entry.parent > 0) found.push_back(pid = entry.parent);
  return found;
}

std::string variable_of(pid_t pid, const std::string& name) {
  std::string environment;
  if (!read_kernel_file("/proc/" + std::to_string(pid) + "/environ", environment)) return {};
  const std::string_view all = environment;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\0', at), all.size());
    const std::string_view entry = all.substr(at, end - at);
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.substr(0, name.size()) == name)
      return std::string(entry.substr(name.size() + 1));
    at = end + 1;
  }
  return {};
}

bool is_ended_by(pid_t pid, int signal) {
  std::string status;
  if (!read_kernel_file("/proc/" + std::to_string(pid) + "/status", status)) return false;
  // Lines like "SigCgt:\t0000000000000200": a bit for each signal, from 1 on.
  for (const char* name : {"\nSigBlk:\t", "\nSigIgn:\t", "\nSigCgt:\t"}) {
    const std::size_t at = status.find(name);
    if (at == status.npos) return false;
    const auto mask = std::strtoull(status.c_str() + at + std::strlen(name), nullptr, 16);
    if ((mask >> (signal - 1) & 1) != 0) return false;
  }
  return true;
}

void wait_for_children(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (const ProcessEntry& child : descendants_of(getpid())) {
    if (child.parent != getpid()) continue;
    while (!has_ended(child.pid) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void kill_all_descendants() {
  // A child that is forked between the look and the kill is found in the next round, which its parent's death
  // begins: the kernel hands orphans on before it tells of the death.
  for (;;) {
    while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
    if (waitpid(-1, nullptr, WNOHANG | __WALL) < 0 && errno == ECHILD) return;
    if (!kill_descendants_once()) return;
    if (waitpid(-1, nullptr, __WALL) < 0 && errno == ECHILD) return;
  }
}

}  // namespace llamada::launcher
