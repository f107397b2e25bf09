#include "llamada/llamanet/inspector.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "ask.hpp"

namespace llamada::llamanet {

Result<Inspector> Inspector::open(const std::string& socket_name, std::chrono::milliseconds patience) {
  Inspector inspector;
  auto seen = inspector.look_at(socket_name, patience);
  if (seen) return inspector;
  if (seen.error().code() != Errc::would_block) return propagate(seen);
  const std::string who =
      inspector.pid_ != 0 ? fmt::format("the driver (pid {})", inspector.pid_) : "the driver";
  return failure(Errc::timeout, "{} has not answered for {} s; is it stopped?", who,
                 static_cast<double>(patience.count()) / 1000);
}

Status Inspector::look_at(const std::string& socket_name, std::chrono::milliseconds patience) {
  auto driver = connect_to(socket_name, patience);
  if (!driver) return propagate(driver);
  driver_ = std::move(*driver);
  if (auto checked = check_owner(driver_.get()); !checked) return propagate(checked);
  if (auto credentials = credentials_of(driver_.get())) pid_ = static_cast<std::uint32_t>(credentials->pid);
  std::vector<FileDescriptor> descriptors;
  auto inspected = ask<Inspected>(driver_.get(), 1, Inspect{}, descriptors, 1);
  if (!inspected) return propagate(inspected);
  if (descriptors.size() != 1) return failure(Errc::parse_error, "the driver sent no page");
  auto size = size_of(descriptors[0].get());
  if (!size) return propagate(size);
  auto page = Mapping::map(descriptors[0].get(), *size, Mapping::Access::read_only);
  if (!page) return propagate(page);
  page_ = std::move(*page);
  if (!is_page(page_.data(), page_.size(), sizeof(topics::ArenaHeader)) ||
      inspected->slot_count > this->page().slot_count_max)
    return failure(Errc::parse_error, "the driver's page is not one that this version of Llamada knows");
  name_ = inspected->name;
  profile_ = inspected->profile;
  for (std::uint32_t first = 0; first < inspected->slot_count; first += peers_count_max) {
    auto mapped = map_slots(first, std::min(peers_count_max, inspected->slot_count - first));
    if (!mapped) return propagate(mapped);
  }
  return {};
}

Status Inspector::map_slots(std::uint32_t first, std::uint32_t count) {
  std::vector<FileDescriptor> descriptors;
  auto answer = ask<PeersAre>(driver_.get(), 2, Peers{first, count}, descriptors, 2 * std::size_t{count});
  if (!answer) return propagate(answer);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < answer->peers.size(); ++i) {
    auto& entry = page_slots(&page())[first + i];
    Slot slot;
    slot.index = first + i;
    slot.state = static_cast<SlotState>(entry.state.load(std::memory_order_acquire));
    slot.incarnation = entry.incarnation.load(std::memory_order_relaxed);
    slot.pid = entry.pid.load(std::memory_order_relaxed);
    slot.deaths = entry.deaths.load(std::memory_order_relaxed);
    if (answer->peers[i].arena != 0) {
      if (next + 2 > descriptors.size())
        return failure(Errc::parse_error, "the driver sent too few descriptors");
      auto file_bytes = size_of(descriptors[next].get());
      if (!file_bytes) return propagate(file_bytes);
      auto arena = Mapping::map(descriptors[next].get(), page().arena_size_bytes, Mapping::Access::read_only);
      if (!arena) return propagate(arena);
      slot.arena = std::move(*arena);
      slot.file_bytes = std::min<std::uint64_t>(*file_bytes, slot.arena.size());
      slot.arena_id = answer->peers[i].arena;
      next += 2;
    }
    if (slot.state != SlotState::free) slots_.push_back(std::move(slot));
  }
  return {};
}

std::vector<std::string> drivers_in(const std::string& proc_net_unix, std::uint32_t uid) {
  auto prefix = fmt::format("@llamada/{}/", uid);
  std::vector<std::string> names;
  std::istringstream lines(proc_net_unix);
  for (std::string line; std::getline(lines, line);) {
    auto at = line.rfind(prefix);
    if (at == std::string::npos || at == 0 || line[at - 1] != ' ') continue;
    names.push_back(line.substr(at + 1));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<std::vector<std::string>> find_drivers(std::uint32_t uid) {
  std::ifstream file("/proc/net/unix");
  if (!file)
    return failure(Errc::unsupported, "/proc/net/unix cannot be read, so that drivers cannot be found");
  std::stringstream text;
  text << file.rdbuf();
  return drivers_in(text.str(), uid);
}

}  // namespace llamada::llamanet
