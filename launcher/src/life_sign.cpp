#include "life_sign.hpp"

#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "kernel_file.hpp"

namespace llamada::launcher {
namespace {

using State = LifeSign::State;

/// Empty if it cannot be read.
std::string text_of(const std::string& path) {
  std::string text;
  return read_kernel_file(path, text) ? text : std::string();
}

/// The number behind "name:" at the beginning of a line; 0 if there is none.
std::uint64_t number_in_line(std::string_view lines, std::string_view name) {
  const std::size_t at = lines.find(std::string("\n").append(name).append(":"));
  return at == lines.npos ? 0 : strtoull(lines.data() + at + name.size() + 2, nullptr, 10);
}

/// "PID (name) S …": of a process or a thread.
struct Stat {
  char state = '?';
  std::uint64_t ticks = 0;  ///< of its processor time
};

std::optional<Stat> stat_of(const std::string& path) {
  const std::string text = text_of(path);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  Stat stat;
  unsigned long long user = 0, system = 0;
  const int found =
      sscanf(text.c_str() + name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
             &stat.state, &user, &system);
  if (found != 3) return std::nullopt;
  stat.ticks = user + system;
  return stat;
}

/// Adds what the threads of a process say to its sign.
void look_at_threads(const std::string& process, LifeSign& sign) {
  const std::string folder = process + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir(folder.c_str()), closedir);
  if (!threads) return;
  while (const dirent* thread = readdir(threads.get())) {
    if (thread->d_name[0] == '.') continue;
    const std::string path = folder + "/" + thread->d_name;
    // "nanoseconds on a processor, nanoseconds of waiting for one, time slices"
    sign.progress += strtoull(text_of(path + "/schedstat").c_str(), nullptr, 10);
    const auto stat = stat_of(path + "/stat");
    if (stat && stat->state == 'R' && sign.state == State::asleep) sign.state = State::runnable;
  }
}

bool says(const std::string& path, std::string_view words) {
  return text_of(path).find(words) != std::string::npos;
}

/// Whether the control group of a line of /proc/PID/cgroup is frozen: "0::/path" of version 2, which systems
/// that have both versions mount below, or "6:freezer:/path" of version 1.
bool is_frozen_line(std::string_view line, const std::string& groups) {
  const std::size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == line.npos || second == line.npos) return false;
  const std::string controllers(line.substr(first + 1, second - first - 1));
  const std::string path(line.substr(second + 1));
  if (controllers == "freezer") return says(groups + "/freezer" + path + "/freezer.state", "FROZEN");
  if (!controllers.empty()) return false;
  return says(groups + path + "/cgroup.events", "frozen 1") ||
         says(groups + "/unified" + path + "/cgroup.events", "frozen 1");
}

bool is_frozen(const std::string& process, const KernelFiles& files) {
  const std::string groups = text_of(process + "/cgroup");
  // A group of ours would have frozen us, too.
  if (groups.empty() || groups == text_of(files.processes + "/self/cgroup")) return false;
  for (std::size_t at = 0; at < groups.size();) {
    const std::size_t end = std::min(groups.find('\n', at), groups.size());
    if (is_frozen_line(std::string_view(groups).substr(at, end - at), files.control_groups)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::optional<LifeSign> life_sign_of(pid_t pid, const KernelFiles& files) {
  const std::string process = files.processes + "/" + std::to_string(pid);
  const auto stat = stat_of(process + "/stat");
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  const std::string status = text_of(process + "/status");
  LifeSign sign;
  sign.pid = pid;
  sign.tracer = static_cast<std::int32_t>(number_in_line(status, "TracerPid"));
  sign.progress = stat->ticks + number_in_line(status, "voluntary_ctxt_switches") +
                  number_in_line(status, "nonvoluntary_ctxt_switches");
  if (stat->state == 'R') sign.state = State::runnable;
  if (stat->state == 'T' || stat->state == 't') sign.state = State::stopped;
  look_at_threads(process, sign);
  if (sign.state == State::asleep && is_frozen(process, files)) sign.state = State::frozen;
  return sign;
}

bool is_stopped(pid_t pid, const KernelFiles& files) {
  const auto stat = stat_of(files.processes + "/" + std::to_string(pid) + "/stat");
  return stat && stat->state == 'T';
}

}  // namespace llamada::launcher
