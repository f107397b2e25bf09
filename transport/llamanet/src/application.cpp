#include "llamada/llamanet/application.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "arena_memory.hpp"
#include "ask.hpp"
#include "claim.hpp"
#include "driver_search.hpp"
#include "socket.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::size_t attached_descriptors_count = 3;
constexpr std::uint64_t prepare_from_bytes = 1 << 20;
constexpr std::uint64_t prepared_ahead_bytes = 2 << 20;
// libc's getpid() is the MPI library's within a rank.
std::int32_t own_pid() { return static_cast<std::int32_t>(::syscall(SYS_getpid)); }

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

Application::Application() : owner_pid_(own_pid()) {}

Result<std::unique_ptr<Application>> Application::attach(const ApplicationOptions& options) {
  if (auto checked = check_name_space(); !checked) return propagate(checked);
  auto chosen = options;
  if (chosen.socket_name.empty()) chosen.socket_name = llamanet::socket_name(::geteuid(), "node");
  auto attached = join_driver(chosen, [](const ApplicationOptions& at) { return attach_to(at); });
  if (!attached) return attached;
  (*attached)->options_ = std::move(chosen);
  if ((*attached)->rejoins()) (*attached)->guard_against_fork();
  return attached;
}

Result<std::unique_ptr<Application>> Application::attach_to(const ApplicationOptions& options) {
  std::unique_ptr<Application> application(new Application);
  if (auto attached = application->shake_hands(options); !attached) return propagate(attached);
  return application;
}

Status Application::shake_hands(const ApplicationOptions& options) {
  silent_ = true;  // until there is something to leave
  auto driver = connect_to_own(options.socket_name);
  if (!driver) return propagate(driver);
  driver_ = KeptDescriptor(std::move(*driver));
  if (auto checked = check_owner(driver_.get(), options.socket_name); !checked) return checked;
  LLAMADA_CRASH_POINT("attach:connected");
  // Before the first commit, so that the membarrier of whoever sleeps includes this process.
  needs_fence_ = !membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
  std::vector<FileDescriptor> descriptors;
  auto attached =
      ask<Attached>(driver_.get(), ++request_,
                    Attach{static_cast<std::uint32_t>(owner_pid_), options.slot, options.token, options.name},
                    descriptors, attached_descriptors_count);
  if (!attached) return propagate(attached);
  if (descriptors.size() != attached_descriptors_count)
    return failure(Errc::parse_error, "the driver sent {} descriptors instead of {}", descriptors.size(),
                   attached_descriptors_count);
  LLAMADA_CRASH_POINT("attach:answered");
  slot_ = attached->slot;
  incarnation_ = attached->incarnation;
  profile_ = attached->qos;
  identity_ = attached->identity;
  auto page_size = size_of(descriptors[0].get());
  if (!page_size) return propagate(page_size);
  auto page = Mapping::map(descriptors[0].get(), *page_size, Mapping::Access::read_only);
  if (!page) return propagate(page);
  page_ = std::move(*page);
  if (!is_page(page_.data(), page_.size(), sizeof(log::ArenaHeader)))
    return failure(Errc::parse_error, "the driver's page is not one that this version of Llamada knows");
  event_ = KeptDescriptor(std::move(descriptors[2]));
  peers_.resize(this->page().slot_count_max);
  if (auto opened = open_arena(options, *attached, std::move(descriptors[1])); !opened) return opened;
  LLAMADA_CRASH_POINT("attach:arena-opened");
  if (auto mapped = map_first_peers(options); !mapped) return mapped;
  LLAMADA_CRASH_POINT("attach:peers-mapped");
  arena_->set_state(log::ArenaState::attached);
  silent_ = false;
  LLAMADA_CRASH_POINT("attach:announced");
  return {};
}

Status Application::open_arena(const ApplicationOptions& options, const Attached& attached,
                               FileDescriptor arena) {
  auto memory = ArenaMemory::map(std::move(arena), page().arena_size_bytes,
                                 [this] { return ask_driver<Lengthened>(Lengthen{}).has_value(); });
  if (!memory) return propagate(memory);
  memory_ = std::move(*memory);
  LLAMADA_CRASH_POINT("attach:arena-mapped");
  auto arena_options = options.arena;
  arena_options.incarnation = attached.incarnation;
  arena_options.pid = static_cast<std::uint32_t>(owner_pid_);
  arena_options.may_grow = [this](std::uint64_t more_bytes) { return may_grow(more_bytes); };
  arena_options.prepare = [this](std::span<std::byte> memory) { return memory_->prepare(memory); };
  arena_options.store = [this](std::span<std::byte> to, std::span<const std::byte> from) {
    return memory_->store(to, from);
  };
  auto opened = log::ArenaWriter::open(memory_->bytes(), std::move(arena_options));
  if (!opened) {
    if (opened.error().code() == Errc::parse_error)
      (void)say(SayKind::damaged, static_cast<std::int32_t>(slot_), opened.error().text());
    return propagate(opened);
  }
  arena_ = std::move(*opened);
  auto& header = arena_->header();
  if (!memory_->reach(memory_->data() + arena_->pool()))
    return failure(Errc::out_of_resources, "there is no memory for an arena's directories");
  header.sleeping.store(0, std::memory_order_relaxed);  // a predecessor may have died asleep
  // What the predecessor was doing is not said of its successor: the state before the incarnation.
  header.call_id.store(0, std::memory_order_relaxed);
  header.call_index.store(0, std::memory_order_relaxed);
  arena_->set_state(log::ArenaState::none);
  header.incarnation.store(attached.incarnation, std::memory_order_release);
  header.pid.store(static_cast<std::uint32_t>(owner_pid_), std::memory_order_relaxed);
  return {};
}

Application::~Application() {
  if (is_child_of_fork()) return;
  if (rejoins()) forget_forks();
  if (silent_) return;
  const Status said = send_datagram(driver_.get(), encode({++request_, Bye{}}));
  // A driver that has come in the meantime keeps a place for this application.
  if (!said && said.error().code() == Errc::closed && rejoins() && rejoin(false))
    (void)send_datagram(driver_.get(), encode({++request_, Bye{}}));
}

bool Application::is_child_of_fork() const { return own_pid() != owner_pid_; }

log::PeerArena Application::peer(std::uint32_t slot) const {
  if (slot >= peers_.size() || !peers_[slot].mapping) return {};
  return {peers_[slot].mapping.data(), peers_[slot].mapping.size(), peers_[slot].file_bytes};
}

Result<bool> Application::refresh() {
  auto generation = this->generation();
  bool changed = false;
  if (generation == seen_generation_) return changed;
  auto count = slot_count();
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    auto arena = page_slot(slot).arena.load(std::memory_order_acquire);
    if (slot_state(slot) == SlotState::done) {
      peers_[slot].event.reset();  // nobody is left to wake
      if (arena == 0) continue;    // the driver has let go of it; what is mapped stays
    }
    if (arena == peers_[slot].arena) continue;
    if (arena == 0) {
      replace_peer(slot, {});
      changed = true;
      continue;
    }
    auto asked = std::min(peers_count_max, count - slot);
    if (auto mapped = map_peers(slot, asked, changed); !mapped) return propagate(mapped);
    slot += asked - 1;
  }
  seen_generation_ = generation;
  return changed;
}

Status Application::map_peers(std::uint32_t first, std::uint32_t count, bool& changed) {
  std::vector<FileDescriptor> descriptors;
  std::unique_lock lock(driver_mutex_);
  auto answer =
      ask<PeersAre>(driver_.get(), ++request_, Peers{first, count}, descriptors, 2 * std::size_t{count});
  lock.unlock();
  if (!answer) return propagate(answer);
  std::size_t present = 0;
  for (auto& peer : answer->peers) present += peer.arena != 0 ? 1 : 0;
  if (answer->first != first || answer->peers.size() != count || descriptors.size() != 2 * present)
    return failure(Errc::parse_error, "the driver's answer about slots {} to {} is malformed", first,
                   first + count);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto& peer = answer->peers[i];
    bool is_new = peer.arena != peers_[first + i].arena;
    // The driver has the place of a peer that we know, and which has not brought its arena to it yet.
    if (peer.arena == 0 &&
        page_slot(first + i).arena.load(std::memory_order_acquire) == peers_[first + i].arena)
      continue;
    changed |= is_new;
    if (peer.arena == 0) {
      if (is_new) replace_peer(first + i, {});
      continue;
    }
    auto arena = std::move(descriptors[next++]);
    auto event = std::move(descriptors[next++]);
    if (!is_new) continue;
    if (auto mapped = map_peer(first + i, peer, std::move(arena), std::move(event)); !mapped) return mapped;
  }
  return {};
}

Status Application::map_peer(std::uint32_t slot, const Peer& peer, FileDescriptor arena,
                             FileDescriptor event) {
  auto file_bytes = size_of(arena.get());
  if (!file_bytes) return propagate(file_bytes);
  if (*file_bytes < sizeof(log::ArenaHeader))
    return failure(Errc::parse_error, "the arena of slot {} has only {} bytes", slot, *file_bytes);
  auto mapping = Mapping::map(arena.get(), page().arena_size_bytes, Mapping::Access::read_only);
  if (!mapping) return propagate(mapping);
  use_small_pages_at_first(mapping->bytes());
  PeerSlot mapped;
  mapped.file_bytes = std::min<std::uint64_t>(*file_bytes, mapping->size());
  mapped.header = reinterpret_cast<const log::ArenaHeader*>(mapping->data());
  mapped.arena = peer.arena;
  mapped.mapping = std::move(*mapping);
  mapped.event = KeptDescriptor(std::move(event));
  replace_peer(slot, std::move(mapped));
  return {};
}

void Application::replace_peer(std::uint32_t slot, PeerSlot by) {
  if (peers_[slot].mapping) replaced_.push_back(std::move(peers_[slot]));
  peers_[slot] = std::move(by);
}

void Application::prepare_ahead() {
  if (arena_->pool_used() >= prepare_from_bytes) memory_->prepare_ahead(arena_->ahead(prepared_ahead_bytes));
}

Status Application::prepare_next(std::uint64_t size_bytes) {
  return memory_->populate(arena_->ahead(size_bytes));
}

void Application::ring_peer(std::uint32_t slot) {
  LLAMADA_CRASH_POINT("wake:before-ring");
  ring(peers_[slot].event.get());
  LLAMADA_CRASH_POINT("wake:rung");
  arena_->count(log::Counter::wakes);
}

Status Application::sleep(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most,
                          WakersBy wakers_by) {
  auto& sleeping = arena_->header().sleeping;
  // Relaxed: membarrier, or the fence where the wakers have one, orders it before the second look.
  sleeping.store(1, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("sleep:flag-set");
  if (wakers_by == WakersBy::fence || needs_fence_ || !membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED))
    std::atomic_thread_fence(std::memory_order_seq_cst);
  Status woken;
  if (!look_again()) {
    LLAMADA_CRASH_POINT("sleep:asleep");
    arena_->count(log::Counter::sleeps);
    woken = nap(std::min<std::chrono::nanoseconds>(at_most, nap_max));
  }
  sleeping.store(0, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("sleep:awake");
  return woken;
}

int Application::closed_descriptor() const {
  for (const int descriptor : {driver_.get(), event_.get()}) {
    int type = 0;
    socklen_t size = sizeof type;
    const bool is_ours = descriptor == driver_.get()
                             ? ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0
                             : ::fcntl(descriptor, F_GETFD) >= 0;
    if (!is_ours) return descriptor;
  }
  return -1;
}

Status Application::nap(std::chrono::nanoseconds at_most) {
  std::array<pollfd, 2> wait{{{event_.get(), POLLIN, 0}, {is_alone() ? -1 : driver_.get(), POLLIN, 0}}};
  auto ns = std::max<std::int64_t>(at_most.count(), 0);
  timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  int ready = ::ppoll(wait.data(), wait.size(), &limit, nullptr);
  if (ready <= 0) return {};  // the time is over, or a signal came
  if (wait[0].revents & POLLIN) clear(event_.get());
  if (wait[1].revents != 0) return check_driver();
  return {};
}

Status Application::check_driver() {
  // Another thread may be asking: then the answer is not for us, and it sees it if the driver is gone.
  std::unique_lock lock(driver_mutex_, std::try_to_lock);
  if (!lock) return {};
  // The driver says nothing that it was not asked for, except why it closes the connection.
  auto datagram = receive_datagram(driver_.get(), false, 0);
  if (!datagram) {
    if (datagram.error().code() == Errc::would_block) return {};
    lose_driver();
    return failure(Errc::closed, "the driver is gone");
  }
  lose_driver();
  auto envelope = decode(datagram->bytes);
  if (envelope)
    if (auto* error = std::get_if<ErrorMessage>(&envelope->message))
      return failure(Errc::closed, "the driver closed the connection: {}", error->text);
  return failure(Errc::closed, "the driver said something that it was not asked for");
}

Result<Mapping> Application::shared_segment(std::uint64_t name, std::uint64_t size_bytes) {
  std::vector<FileDescriptor> descriptors;
  std::unique_lock lock(driver_mutex_);
  auto answer = ask<Shared>(driver_.get(), ++request_, Share{name, size_bytes}, descriptors, 1);
  lock.unlock();
  if (!answer) return propagate(answer);
  if (!answer->granted) return failure(answer->code, "{}", answer->text);
  if (descriptors.size() != 1)
    return failure(Errc::parse_error, "the driver sent {} descriptors of shared memory", descriptors.size());
  return Mapping::map(descriptors[0].get(), size_bytes, Mapping::Access::read_write);
}

Status Application::release_segment(std::uint64_t name) {
  std::vector<FileDescriptor> descriptors;
  std::lock_guard lock(driver_mutex_);
  auto answer = ask<Released>(driver_.get(), ++request_, Release{name}, descriptors, 0);
  if (!answer) return propagate(answer);
  return {};
}

Status Application::say(SayKind kind, std::int32_t code, std::string_view text) {
  return say(prepare_say(kind, code, text));
}

std::vector<std::byte> Application::prepare_say(SayKind kind, std::int32_t code, std::string_view text) {
  return encode({++request_, Say{kind, code, std::string(text)}});
}

Status Application::say(const std::vector<std::byte>& prepared) const {
  return send_datagram(driver_.get(), prepared);
}

template <typename Answer, typename Question>
Result<Answer> Application::ask_driver(const Question& question) {
  std::vector<FileDescriptor> none;
  std::lock_guard lock(driver_mutex_);
  return ask<Answer>(driver_.get(), ++request_, question, none, 0);
}

Result<Spawned> Application::spawn(const Spawn& spawn) {
  const std::size_t size = encode({0, spawn}).size();
  if (size > message_size_bytes_max)
    return failure(Errc::invalid_argument, "the commands and their arguments have {} bytes; the most is {}",
                   size, message_size_bytes_max);
  return ask_driver<Spawned>(spawn);
}

Status Application::reach(const Reach& reach) {
  auto answer = ask_driver<Reached>(reach);
  return answer ? Status{} : Status(propagate(answer));
}

Result<Named> Application::name(const Name& name) { return ask_driver<Named>(name); }

// Called by the ArenaWriter for each extent, so rarely enough to look at everybody's arena.
bool Application::may_grow(std::uint64_t more_bytes) {
  auto limit = page().log_bytes_max;
  if (limit != 0 && is_protected() && live_bytes_of_all() + more_bytes > limit) return false;
  return true;
}

std::uint64_t Application::live_bytes_of_all() const {
  std::uint64_t all = 0;
  for (auto& peer : peers_) {
    if (peer.header == nullptr) continue;
    const std::uint64_t live = peer.header->pool_live.load(std::memory_order_relaxed);
    // More than there is, a wild pointer has written there: nobody else is to run out of memory by that.
    if (live <= peer.header->pool_used.load(std::memory_order_relaxed) && live <= peer.mapping.size())
      all += live;
  }
  return all;
}

}  // namespace llamada::llamanet
