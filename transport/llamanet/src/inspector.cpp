#include "llamada/llamanet/inspector.hpp"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "ask.hpp"
#include "bound_names.hpp"
#include "socket.hpp"

namespace llamada::llamanet {

Result<Inspector> Inspector::open(const std::string& socket_name, std::chrono::milliseconds patience) {
  Inspector inspector;
  inspector.patience_ = patience;
  auto seen = inspector.look_at(socket_name, patience);
  if (seen) return inspector;
  if (seen.error().code() != Errc::would_block) return propagate(seen);
  return tl::unexpected(inspector.late());
}

Error Inspector::late() const {
  const std::string who = pid_ != 0 ? fmt::format("the driver (pid {})", pid_) : "the driver";
  return {Errc::timeout, fmt::format("{} has not answered for {} s; is it stopped?", who,
                                     static_cast<double>(patience_.count()) / 1000)};
}

Status Inspector::look_at(const std::string& socket_name, std::chrono::milliseconds patience) {
  auto driver = connect_to(socket_name, patience);
  if (!driver) return propagate(driver);
  driver_ = std::move(*driver);
  if (auto checked = check_owner(driver_.get(), socket_name); !checked) return propagate(checked);
  if (auto credentials = credentials_of(driver_.get())) pid_ = static_cast<std::uint32_t>(credentials->pid);
  std::vector<FileDescriptor> descriptors;
  auto inspected = ask<Inspected>(driver_.get(), 1, Inspect{}, descriptors, 1);
  if (!inspected) return propagate(inspected);
  if (descriptors.size() != 1) return failure(Errc::parse_error, "the driver sent no page");
  auto page = MappedPage::map(descriptors[0].get());
  if (!page) return propagate(page);
  page_ = std::move(*page);
  if (inspected->slot_count > page_->slot_count_max)
    return failure(Errc::parse_error, "the driver has {} slots, and its page has room for {}",
                   inspected->slot_count, page_->slot_count_max);
  name_ = inspected->name;
  profile_ = inspected->profile;
  return map_all(inspected->slot_count, slots_);
}

Status Inspector::refresh() {
  const std::uint32_t slot_count =
      std::min(page_->slot_count.load(std::memory_order_acquire), page_->slot_count_max);
  std::vector<Slot> now;
  bool all_known = true;
  for (std::uint32_t index = 0; index < slot_count; ++index) {
    Slot slot = read_slot(index);
    const std::uint32_t arena_id = page_.slot(index).arena.load(std::memory_order_acquire);
    slot.arena = known(index, arena_id);
    slot.arena_id = slot.arena ? arena_id : 0;
    all_known = all_known && (arena_id == 0 || slot.arena);
    if (slot.state != SlotState::free) now.push_back(std::move(slot));
  }
  std::swap(slots_, now);
  if (all_known) return {};
  // What an earlier refresh() waited for in vain.
  while (receive_datagram(driver_.get(), false, 2 * std::size_t{peers_count_max})) continue;
  std::vector<Slot> with_new;
  if (auto mapped = map_all(slot_count, with_new); !mapped) {
    if (mapped.error().code() == Errc::would_block) return tl::unexpected(late());
    return propagate(mapped);
  }
  slots_ = std::move(with_new);
  return {};
}

Inspector::Slot Inspector::read_slot(std::uint32_t index) const {
  const PageSlot& entry = page_.slot(index);
  Slot slot;
  slot.index = index;
  slot.state = static_cast<SlotState>(entry.state.load(std::memory_order_acquire));
  slot.incarnation = entry.incarnation.load(std::memory_order_relaxed);
  slot.pid = entry.pid.load(std::memory_order_relaxed);
  slot.deaths = entry.deaths.load(std::memory_order_relaxed);
  const std::uint32_t node = entry.node.load(std::memory_order_relaxed);
  if (node != page_->node) slot.other_node = node;
  return slot;
}

std::shared_ptr<const MappedArena> Inspector::known(std::uint32_t index, std::uint32_t arena_id) const {
  for (const Slot& slot : slots_)
    if (slot.index == index && slot.arena_id == arena_id) return slot.arena;
  return nullptr;
}

bool Inspector::has_ended() const {
  pollfd driver{.fd = driver_.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&driver, 1, 0) > 0 && (driver.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

Status Inspector::map_all(std::uint32_t slot_count, std::vector<Slot>& into) {
  for (std::uint32_t first = 0; first < slot_count; first += peers_count_max) {
    auto mapped = map_slots(first, std::min(peers_count_max, slot_count - first), into);
    if (!mapped) return mapped;
  }
  return {};
}

Status Inspector::map_slots(std::uint32_t first, std::uint32_t count, std::vector<Slot>& into) {
  std::vector<FileDescriptor> descriptors;
  auto answer = ask<PeersAre>(driver_.get(), 2, Peers{first, count}, descriptors, 2 * std::size_t{count});
  if (!answer) return propagate(answer);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < answer->peers.size(); ++i) {
    Slot slot = read_slot(first + i);
    if (answer->peers[i].arena != 0) {
      if (next + 2 > descriptors.size())
        return failure(Errc::parse_error, "the driver sent too few descriptors");
      slot.arena_id = answer->peers[i].arena;
      slot.arena = known(slot.index, slot.arena_id);
      if (!slot.arena) {
        auto arena = MappedArena::map(descriptors[next].get(), page_->arena_size_bytes);
        if (!arena) return propagate(arena);
        slot.arena = std::make_shared<const MappedArena>(std::move(*arena));
      }
      next += 2;
    }
    if (slot.state != SlotState::free) into.push_back(std::move(slot));
  }
  return {};
}

Result<std::uint32_t> Inspector::raise_survey() {
  std::vector<FileDescriptor> descriptors;
  auto answer = ask<Surveyed>(driver_.get(), 3, Survey{}, descriptors, 0);
  if (!answer) return propagate(answer);
  return answer->number;
}

Result<FoundDrivers> find_drivers(std::uint32_t uid) {
  if (auto checked = check_name_space(); !checked) return propagate(checked);
  const std::string prefix = name_prefix(uid);
  auto names = bound_names(prefix);
  if (!names) return propagate(names);
  FoundDrivers found;
  for (BoundName& each : *names) {
    // A further '/' is a name space that is not ours.
    if (!each.listening || each.name.find('/', prefix.size()) != each.name.npos) continue;
    if (each.owner && !may_deal_with(uid, *each.owner))
      found.foreign.add(*each.owner);
    else
      found.names.push_back(std::move(each.name));
  }
  return found;
}

Result<std::set<std::uint32_t>> other_users_with_drivers(std::uint32_t uid) {
  if (auto checked = check_name_space(); !checked) return propagate(checked);
  auto names = bound_names("llamada/");
  if (!names) return propagate(names);
  std::set<std::uint32_t> users;
  for (const BoundName& each : *names) {
    // Whoever took the name of another user's driver is no driver of that user.
    if (each.listening && each.owner && *each.owner != uid &&
        each.name.starts_with(name_prefix(*each.owner) + "node"))
      users.insert(*each.owner);
  }
  return users;
}

namespace {

/// The process that listens under this name, 0 if none does. The kernel knows it: the driver may be stopped.
pid_t listener_at(const std::string& socket_name) {
  auto socket = connect_to(socket_name, std::chrono::milliseconds(1));
  if (!socket) return 0;
  const auto credentials = credentials_of(socket->get());
  return credentials ? credentials->pid : 0;
}

/// 0 if the process is gone.
pid_t parent_of(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  pid_t parent = 0;
  for (std::string line; std::getline(status, line);)
    if (std::sscanf(line.c_str(), "PPid: %d", &parent) == 1) return parent;
  return 0;
}

bool descends_from(pid_t pid, pid_t ancestor) {
  while (pid > 1 && pid != ancestor) pid = parent_of(pid);
  return pid == ancestor;
}

}  // namespace

Result<std::vector<std::string>> find_job_drivers(std::uint32_t uid, std::int32_t mpirun_pid) {
  auto found = find_drivers(uid);
  if (!found) return propagate(found);
  const std::string begin = name_prefix(uid) + "job-";
  std::erase_if(found->names, [&](const std::string& name) {
    return !name.starts_with(begin) || !descends_from(listener_at(name), mpirun_pid);
  });
  return std::move(found->names);
}

Result<std::string> find_job_driver(std::uint32_t uid, std::int32_t mpirun_pid) {
  auto found = find_job_drivers(uid, mpirun_pid);
  if (!found) return propagate(found);
  if (!found->empty()) return std::move(found->front());
  return failure(Errc::not_found, "no driver of the job of mpirun {} listens", mpirun_pid);
}

}  // namespace llamada::llamanet
