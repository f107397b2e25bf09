#include "standbys.hpp"

#include <algorithm>

namespace llamada::launcher {

std::vector<pid_t> Standbys::add(const ParkedCopy& copy) {
  if (refuses_) return {copy.pid};
  std::vector<pid_t> old;
  copies_.push_back(copy);
  while (copies_.size() > kept_max) {
    old.push_back(copies_.front().pid);
    copies_.pop_front();
  }
  return old;
}

std::optional<ParkedCopy> Standbys::take() {
  if (copies_.empty()) return std::nullopt;
  const ParkedCopy newest = copies_.back();
  copies_.pop_back();
  return newest;
}

std::vector<pid_t> Standbys::take_all() {
  std::vector<pid_t> all;
  for (const ParkedCopy& copy : copies_) all.push_back(copy.pid);
  copies_.clear();
  return all;
}

std::vector<pid_t> Standbys::refuse() {
  refuses_ = true;
  return take_all();
}

bool Standbys::remove(pid_t pid) {
  return std::erase_if(copies_, [pid](const ParkedCopy& copy) { return copy.pid == pid; }) > 0;
}

bool Standbys::has(pid_t pid) const {
  return std::ranges::any_of(copies_, [pid](const ParkedCopy& copy) { return copy.pid == pid; });
}

}  // namespace llamada::launcher
