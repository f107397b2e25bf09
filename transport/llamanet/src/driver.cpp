#include "llamada/llamanet/driver.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "claim.hpp"
#include "driver_slots.hpp"
#include "llamada/base/check.hpp"
#include "llamada/log/peer_arena.hpp"
#include "names.hpp"
#include "process_start.hpp"
#include "shared_segments.hpp"
#include "socket.hpp"

namespace llamada::llamanet {
namespace {

constexpr int events_max = 64;
constexpr long retry_ns = 1'000'000;
constexpr std::uint32_t kept_histories_max = 16;
constexpr std::size_t unsent_answers_max = 16;
/// With `rejoin`: arena and eventfd.
constexpr std::size_t brought_descriptors = 2;

// What a descriptor in the epoll set stands for: a kind in the top byte, a number below.
enum class Source : std::uint64_t { listener = 1, connection = 2, process = 3, retry = 4 };
constexpr int source_shift = 56;
constexpr std::uint64_t key_of(Source source, std::uint64_t number) {
  return static_cast<std::uint64_t>(source) << source_shift | number;
}

// An answer and the slots whose descriptors go with it. They are opened when it is sent, so that an answer
// which has to wait holds none.
struct Answer {
  std::vector<std::byte> bytes;
  bool with_page = false;
  std::optional<std::uint32_t> own;  // arena read-write and eventfd of this slot
  std::vector<std::uint32_t> peers;  // arena read-only and eventfd of each
  std::optional<int> shared;         // memory; its asker holds it, so that it stays open
};

bool has_ended(int process) {
  pollfd state{process, POLLIN, 0};
  return ::poll(&state, 1, 0) > 0;
}

/// epoll_wait(), by whichever of its system calls there is.
int wait_for_events(int epoll, std::array<epoll_event, events_max>& ready,
                    std::chrono::milliseconds timeout) {
  const auto timeout_ms = static_cast<int>(timeout.count());
  const int count = ::epoll_wait(epoll, ready.data(), events_max, timeout_ms);
  if (count >= 0 || !is_refused(errno)) return count;
  return ::epoll_pwait(epoll, ready.data(), events_max, timeout_ms, nullptr);
}

struct Connection {
  FileDescriptor socket;
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> slot;
  bool greeted = false;  // has attached or is inspecting
  std::deque<Answer> unsent;
};

}  // namespace

class Driver::Implementation {
 public:
  static Result<std::unique_ptr<Implementation>> open(const DriverOptions& options);

  std::vector<DriverEvent> poll(std::chrono::milliseconds timeout);
  Status create_slots(std::uint32_t count, std::vector<std::string> identities);
  Result<std::uint32_t> add_slots(std::uint32_t count);
  void answer_spawn(const DriverEvent::Question& question, const Spawned& spawned);
  void answer_reach(const DriverEvent::Question& question);
  void end_application(std::uint32_t slot);
  bool close_if_idle();

  DriverOptions options_;
  std::string socket_name_;
  FileDescriptor epoll_;
  FileDescriptor listener_;
  bool cannot_accept_ = false;
  FileDescriptor retry_;
  DriverSlots slots_;
  SharedSegments segments_{slots_.memory()};
  Names names_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t connection_last_ = 0;
  std::uint64_t death_last_ = 0;
  std::uint64_t roster_of_ns_ = 0;  // the predecessor's start whose roster was taken over; 0: none was
  std::vector<DriverEvent> events_;

 private:
  Status watch(int descriptor, Source source, std::uint64_t number);
  void handle(std::uint64_t key);
  void accept_all();
  void admit(FileDescriptor socket);
  void serve(std::uint64_t number);
  Status handle_datagram(std::uint64_t number, Datagram datagram);
  Status on(std::uint64_t number, std::uint32_t request, const Attach& attach);
  Status on(std::uint64_t number, std::uint32_t request, const Peers& peers);
  Status on(std::uint64_t number, std::uint32_t request, const Say& say);
  Status on(std::uint64_t number, std::uint32_t request, const Inspect&);
  Status on(std::uint64_t number, std::uint32_t request, const Bye&);
  Status on(std::uint64_t number, std::uint32_t request, const Share& share);
  Status on(std::uint64_t number, std::uint32_t request, const Release& release);
  Status on(std::uint64_t number, std::uint32_t request, const Spawn& spawn);
  Status on(std::uint64_t number, std::uint32_t request, const Name& name);
  Status on(std::uint64_t number, std::uint32_t request, const Lengthen&);
  Status on(std::uint64_t number, std::uint32_t request, const Reach& reach);
  Status on(std::uint64_t number, std::uint32_t request, const Part& part);
  Status on_rejoin(std::uint64_t number, std::uint32_t request, const Rejoin& rejoin,
                   std::vector<FileDescriptor> brought);
  Status take_over(const Rejoin& rejoin);
  void attach(std::uint64_t number, std::uint32_t request, std::uint32_t slot, FileDescriptor process,
              const std::string& name);
  // Messages that only a driver sends.
  template <typename Other>
  Status on(std::uint64_t, std::uint32_t, const Other&) {
    return failure(Errc::parse_error, "a message that only a driver may send");
  }
  Result<std::uint32_t> slot_for(const Attach& attach);
  Result<std::uint32_t> expected_slot(const Attach& attach) const;
  void answer(std::uint64_t number, Answer answer);
  Status transmit(Connection& connection, const Answer& answer);
  void retry_unsent();
  void schedule_retry();
  void refuse(std::uint64_t number, const Error& error);
  void close(std::uint64_t number);
  void on_death(std::uint32_t slot);
  void on_departure(std::uint32_t slot);
  bool has_lasting_writer(std::uint32_t slot) const;
  void drop_histories();
};

Result<std::unique_ptr<Driver::Implementation>> Driver::Implementation::open(const DriverOptions& options) {
  auto driver = std::make_unique<Implementation>();
  driver->options_ = options;
  if (auto checked = check_name_space(); !checked) return propagate(checked);
  auto claim = options.secret_name ? claim_secret(options.name) : claim_known(options.name);
  if (!claim) return propagate(claim);
  driver->socket_name_ = std::move(claim->socket_name);
  driver->listener_ = std::move(claim->listener);
  driver->epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!driver->epoll_) return system_failure("epoll_create1");
  driver->retry_ = FileDescriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!driver->retry_) return system_failure("timerfd_create");
  std::array<epoll_event, events_max> none_yet;
  if (wait_for_events(driver->epoll_.get(), none_yet, std::chrono::milliseconds(0)) < 0)
    return system_failure("epoll_wait");
  auto slots = DriverSlots::create(options);
  if (!slots) return propagate(slots);
  driver->slots_ = std::move(*slots);
  if (auto watched = driver->watch(driver->retry_.get(), Source::retry, 0); !watched)
    return propagate(watched);
  if (auto watched = driver->watch(driver->listener_.get(), Source::listener, 0); !watched)
    return propagate(watched);
  // Where no connection can be accepted, nobody else could be told.
  if (auto early = accept_from(driver->listener_.get()); early)
    driver->admit(std::move(*early));
  else if (is_refused(early.error().system_errno()))
    return propagate(early);
  return driver;
}

Status Driver::Implementation::watch(int descriptor, Source source, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key_of(source, number);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) return system_failure("epoll_ctl");
  return {};
}

Status Driver::Implementation::create_slots(std::uint32_t count, std::vector<std::string> identities) {
  LLAMADA_CHECK(slots_.count() == 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto slot = slots_.take();
    if (!slot) return propagate(slot);
    if (i < identities.size()) slots_[i].identity = std::move(identities[i]);
  }
  return {};
}

Result<std::uint32_t> Driver::Implementation::add_slots(std::uint32_t count) {
  auto first = slots_.add(count);
  // What is still to be told of processes that had these slots before concerns nobody.
  if (first)
    std::erase_if(events_, [&](const DriverEvent& event) {
      return event.slot >= *first && event.slot - *first < count;
    });
  return first;
}

void Driver::Implementation::answer_spawn(const DriverEvent::Question& question, const Spawned& spawned) {
  if (connections_.contains(question.connection))
    answer(question.connection, {encode({question.request, spawned}), false, {}, {}, {}});
}

void Driver::Implementation::answer_reach(const DriverEvent::Question& question) {
  if (connections_.contains(question.connection))
    answer(question.connection, {encode({question.request, Reached{}}), false, {}, {}, {}});
}

std::vector<DriverEvent> Driver::Implementation::poll(std::chrono::milliseconds timeout) {
  std::array<epoll_event, events_max> ready;
  const int count = wait_for_events(epoll_.get(), ready, timeout);
  for (int i = 0; i < count; ++i) handle(ready[static_cast<std::size_t>(i)].data.u64);
  if (std::ranges::all_of(connections_, [](const auto& each) { return each.second.unsent.empty(); }))
    slots_.let_go_of_done();
  return std::exchange(events_, {});
}

void Driver::Implementation::handle(std::uint64_t key) {
  auto number = key & ((std::uint64_t{1} << source_shift) - 1);
  switch (static_cast<Source>(key >> source_shift)) {
    case Source::listener:
      return accept_all();
    case Source::connection:
      return serve(number);
    case Source::process:
      return on_death(static_cast<std::uint32_t>(number));
    case Source::retry:
      return retry_unsent();
  }
}

void Driver::Implementation::accept_all() {
  for (;;) {
    auto socket = accept_from(listener_.get());
    if (socket) {
      cannot_accept_ = false;
      admit(std::move(*socket));
      continue;
    }
    // Said once, for it is tried again with every poll.
    if (socket.error().code() != Errc::would_block && !std::exchange(cannot_accept_, true))
      events_.push_back({DriverEvent::Kind::refused, any_slot, 0, {}, socket.error().text()});
    return;
  }
}

void Driver::Implementation::admit(FileDescriptor socket) {
  auto credentials = credentials_of(socket.get());
  if (!credentials) return;
  if (!may_deal_with(::geteuid(), credentials->uid)) {
    events_.push_back({DriverEvent::Kind::refused,
                       any_slot,
                       static_cast<std::uint32_t>(credentials->pid),
                       {},
                       fmt::format("process {} of user {} may not attach to a driver of user {}",
                                   credentials->pid, credentials->uid, ::geteuid())});
    return;
  }
  auto number = ++connection_last_;
  if (!watch(socket.get(), Source::connection, number)) return;
  auto& connection = connections_[number];
  connection.socket = std::move(socket);
  connection.pid = static_cast<std::uint32_t>(credentials->pid);
}

void Driver::Implementation::serve(std::uint64_t number) {
  for (;;) {
    auto found = connections_.find(number);
    if (found == connections_.end() || found->second.unsent.size() >= unsent_answers_max) return;
    auto datagram = receive_datagram(found->second.socket.get(), false, brought_descriptors);
    if (datagram) {
      auto handled = handle_datagram(number, std::move(*datagram));
      if (!handled) return refuse(number, handled.error());
      continue;
    }
    if (datagram.error().code() == Errc::would_block) return;
    if (datagram.error().code() == Errc::closed) return close(number);
    return refuse(number, datagram.error());
  }
}

Status Driver::Implementation::handle_datagram(std::uint64_t number, Datagram datagram) {
  auto envelope = decode(datagram.bytes);
  if (!envelope) return propagate(envelope);
  if (const auto* rejoin = std::get_if<Rejoin>(&envelope->message))
    return on_rejoin(number, envelope->request, *rejoin, std::move(datagram.descriptors));
  return std::visit([&](const auto& message) { return on(number, envelope->request, message); },
                    envelope->message);
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Attach& attach) {
  auto& connection = connections_.at(number);
  if (connection.greeted) return failure(Errc::parse_error, "a second attach on one connection");
  auto process = pidfd_of(connection.socket.get(), static_cast<pid_t>(connection.pid));
  if (!process) return propagate(process);
  // It may have died since it asked, and its successor be expected by now.
  if (has_ended(process->get())) return failure(Errc::closed, "process {} is dead", connection.pid);
  auto slot = slot_for(attach);
  if (!slot) return propagate(slot);
  if (auto watched = watch(process->get(), Source::process, *slot); !watched) {
    if (options_.on_demand) slots_.free(*slot);
    return watched;
  }
  this->attach(number, request, *slot, std::move(*process), attach.name);
  return {};
}

void Driver::Implementation::attach(std::uint64_t number, std::uint32_t request, std::uint32_t slot,
                                    FileDescriptor process, const std::string& name) {
  auto& connection = connections_.at(number);
  slots_[slot].name = name;
  slots_.attach(slot, connection.pid, std::move(process), number);
  connection.slot = slot;
  connection.greeted = true;
  Attached attached{slot,
                    slots_.entry(slot).incarnation.load(std::memory_order_relaxed),
                    slots_.count(),
                    0,
                    options_.profile,
                    slots_[slot].identity};
  events_.push_back({DriverEvent::Kind::attached, slot, connection.pid, {}, name});
  answer(number, {encode({request, std::move(attached)}), true, slot, {}, {}});
  slots_.wake_all();
}

Status Driver::Implementation::on_rejoin(std::uint64_t number, std::uint32_t request, const Rejoin& rejoin,
                                         std::vector<FileDescriptor> brought) {
  auto& connection = connections_.at(number);
  if (!options_.on_demand) return failure(Errc::unsupported, "the driver of a job replaces no other one");
  if (connection.greeted) return failure(Errc::parse_error, "rejoin after attach");
  if (brought.size() != brought_descriptors || rejoin.arena == 0)
    return failure(Errc::parse_error, "rejoin without an arena");
  if (rejoin.arena_size_bytes != slots_.arena_size_bytes())
    return failure(Errc::unsupported, "arenas of {} bytes; those of this driver have {}",
                   rejoin.arena_size_bytes, slots_.arena_size_bytes());
  auto process = pidfd_of(connection.socket.get(), static_cast<pid_t>(connection.pid));
  if (!process) return propagate(process);
  if (has_ended(process->get())) return failure(Errc::closed, "process {} is dead", connection.pid);
  if (auto taken = take_over(rejoin); !taken) return taken;
  if (auto known = slots_.find_arena(rejoin.arena);
      known && slots_.state(*known) == SlotState::attached &&
      slots_.entry(*known).pid.load(std::memory_order_relaxed) == connection.pid) {
    // It has not waited for the answer, and asks again.
    if (auto old = slots_[*known].connection; old != 0) close(old);
    attach(number, request, *known, std::move(*process), rejoin.name);
    return {};
  }
  auto slot = slots_.adopt(rejoin, std::move(brought[0]), std::move(brought[1]));
  if (!slot) return propagate(slot);
  if (auto watched = watch(process->get(), Source::process, *slot); !watched) {
    slots_.free(*slot);
    return watched;
  }
  attach(number, request, *slot, std::move(*process), rejoin.name);
  return {};
}

// The roster of the driver that ended last counts: an application may come that was stopped while several
// drivers ended, and knows a roster that is no longer true.
Status Driver::Implementation::take_over(const Rejoin& rejoin) {
  if (rejoin.driver_start_ns <= roster_of_ns_) return {};
  slots_.continue_serials(rejoin.arena_last);
  const auto is_listed = [&](std::uint32_t arena) {
    return std::any_of(rejoin.roster.begin(), rejoin.roster.end(),
                       [arena](const RosterLine& line) { return line.arena == arena; });
  };
  for (std::uint32_t slot = 0; slot < slots_.count(); ++slot)
    if (slots_.is_reserved(slot) && !is_listed(slots_.entry(slot).arena.load(std::memory_order_relaxed)))
      slots_.free(slot);
  roster_of_ns_ = rejoin.driver_start_ns;
  for (const RosterLine& line : rejoin.roster) {
    if (line.arena == 0 || slots_.find_arena(line.arena)) continue;
    FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, line.pid, 0)));
    const bool is_same = process && !has_ended(process.get()) &&
                         (line.process_start == 0 || start_of_process(line.pid) == line.process_start);
    if (!is_same) continue;  // it has ended: those who know its arena see that it is gone
    const int watched = process.get();
    auto slot = slots_.reserve(line, std::move(process));
    if (!slot) return propagate(slot);
    if (auto status = watch(watched, Source::process, *slot); !status) return status;
  }
  return {};
}

Result<std::uint32_t> Driver::Implementation::slot_for(const Attach& attach) {
  if (!options_.on_demand) return expected_slot(attach);
  if (attach.slot != any_slot)
    return failure(Errc::invalid_argument, "this driver gives out its slots by itself");
  return slots_.take();
}

Result<std::uint32_t> Driver::Implementation::expected_slot(const Attach& attach) const {
  if (attach.slot >= slots_.count())
    return failure(Errc::not_found, "this driver has no slot {}; it has {}", attach.slot, slots_.count());
  if (slots_.state(attach.slot) != SlotState::expected)
    return failure(Errc::already_exists,
                   "nobody is expected in slot {} now: a process has attached to it before", attach.slot);
  if (slots_[attach.slot].token != attach.token)
    return failure(Errc::permission_denied, "the token for slot {} is not the right one", attach.slot);
  return attach.slot;
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Peers& peers) {
  if (!connections_.at(number).greeted) return failure(Errc::parse_error, "peers before attach or inspect");
  if (peers.first > slots_.count_max() || peers.count > slots_.count_max() - peers.first)
    return failure(Errc::invalid_argument, "slots {} to {}; the driver has room for {}", peers.first,
                   std::uint64_t{peers.first} + peers.count, slots_.count_max());
  PeersAre are{peers.first, {}};
  Answer reply;
  for (auto slot = peers.first; slot < peers.first + peers.count; ++slot) {
    auto& entry = slots_.entry(slot);
    are.peers.push_back(
        {entry.incarnation.load(std::memory_order_relaxed), entry.arena.load(std::memory_order_relaxed)});
    if (slots_.is_reserved(slot)) are.peers.back().arena = 0;  // its application has not brought it yet
    if (are.peers.back().arena == 0) continue;
    reply.peers.push_back(slot);
    if (const auto holder = connections_.at(number).slot) slots_.hold(slot, *holder);
  }
  reply.bytes = encode({request, std::move(are)});
  answer(number, std::move(reply));
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t, const Say& say) {
  auto& connection = connections_.at(number);
  if (!connection.slot) return failure(Errc::parse_error, "say before attach");
  events_.push_back({DriverEvent::Kind::said, *connection.slot, connection.pid, say, {}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Inspect&) {
  auto& connection = connections_.at(number);
  if (connection.greeted) return failure(Errc::parse_error, "inspect after attach");
  connection.greeted = true;
  answer(number,
         {encode({request, Inspected{slots_.count(), options_.name, options_.profile}}), true, {}, {}, {}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t, const Bye&) {
  auto slot = connections_.at(number).slot;
  if (!slot) return failure(Errc::parse_error, "bye before attach");
  connections_.at(number).slot.reset();
  close(number);
  on_departure(*slot);
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Share& share) {
  auto slot = connections_.at(number).slot;
  if (!slot) return failure(Errc::parse_error, "share before attach");
  auto memory = segments_.share(*slot, share.name, share.size_bytes);
  Answer reply;
  if (memory) {
    reply.bytes = encode({request, Shared{}});
    reply.shared = *memory;
  } else {
    reply.bytes = encode({request, Shared{false, memory.error().code(), memory.error().text()}});
  }
  answer(number, std::move(reply));
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Release& release) {
  auto slot = connections_.at(number).slot;
  if (!slot) return failure(Errc::parse_error, "release before attach");
  segments_.release(*slot, release.name);
  answer(number, {encode({request, Released{}}), false, {}, {}, {}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Spawn& spawn) {
  auto& connection = connections_.at(number);
  if (!connection.slot) return failure(Errc::parse_error, "spawn before attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver starts no programs");
  events_.push_back(
      {DriverEvent::Kind::spawn, *connection.slot, connection.pid, {}, {}, spawn, {number, request}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Name& name) {
  auto& connection = connections_.at(number);
  if (!connection.slot) return failure(Errc::parse_error, "name before attach");
  answer(number, {encode({request, names_.handle(*connection.slot, name)}), false, {}, {}, {}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Lengthen&) {
  auto slot = connections_.at(number).slot;
  if (!slot) return failure(Errc::parse_error, "lengthen before attach");
  if (auto lengthened = slots_.lengthen(*slot); !lengthened) return lengthened;
  answer(number, {encode({request, Lengthened{}}), false, {}, {}, {}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Reach& reach) {
  auto& connection = connections_.at(number);
  if (!connection.slot) return failure(Errc::parse_error, "reach before attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver replaces nobody");
  events_.push_back(
      {DriverEvent::Kind::reach, *connection.slot, connection.pid, {}, {}, {}, {number, request}, reach});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t, const Part& part) {
  auto& connection = connections_.at(number);
  if (!connection.slot) return failure(Errc::parse_error, "part before attach");
  slots_.let_go(part.slot, part.arena, *connection.slot);
  return {};
}

void Driver::Implementation::answer(std::uint64_t number, Answer answer) {
  auto& connection = connections_.at(number);
  if (connection.unsent.empty()) {
    const Status sent = transmit(connection, answer);
    if (sent || sent.error().code() == Errc::closed)
      return;  // the connection's end is dealt with where it shows
    if (sent.error().code() != Errc::would_block) return refuse(number, sent.error());
  }
  connection.unsent.push_back(std::move(answer));
  schedule_retry();
}

Status Driver::Implementation::transmit(Connection& connection, const Answer& answer) {
  std::vector<FileDescriptor> opened;
  std::vector<int> descriptors;
  if (answer.with_page) descriptors.push_back(slots_.page_descriptor());
  if (answer.shared) descriptors.push_back(*answer.shared);
  if (answer.own) {
    descriptors.push_back(slots_[*answer.own].arena.get());
    descriptors.push_back(slots_[*answer.own].event.get());
  }
  for (auto slot : answer.peers) {
    auto arena = reopen_read_only(slots_[slot].arena.get());
    if (!arena) return propagate(arena);
    descriptors.push_back(arena->get());
    descriptors.push_back(slots_[slot].event.get());
    opened.push_back(std::move(*arena));
  }
  return send_datagram(connection.socket.get(), answer.bytes, descriptors);
}

void Driver::Implementation::retry_unsent() {
  std::uint64_t expirations;
  (void)!::read(retry_.get(), &expirations, sizeof(expirations));
  bool some_left = false;
  std::vector<std::uint64_t> unblocked;
  std::vector<std::pair<std::uint64_t, Error>> refused;
  for (auto& [number, connection] : connections_) {
    bool was_full = connection.unsent.size() >= unsent_answers_max;
    while (!connection.unsent.empty()) {
      const Status sent = transmit(connection, connection.unsent.front());
      if (!sent && sent.error().code() == Errc::would_block) break;
      if (!sent && sent.error().code() != Errc::closed) {
        refused.emplace_back(number, sent.error());
        break;
      }
      connection.unsent.pop_front();
    }
    some_left |= !connection.unsent.empty();
    if (was_full && connection.unsent.empty()) unblocked.push_back(number);
  }
  if (some_left) schedule_retry();
  for (const auto& [number, error] : refused) refuse(number, error);
  for (auto number : unblocked) serve(number);
}

void Driver::Implementation::schedule_retry() {
  itimerspec once{};
  once.it_value.tv_nsec = retry_ns;
  ::timerfd_settime(retry_.get(), 0, &once, nullptr);
}

void Driver::Implementation::refuse(std::uint64_t number, const Error& error) {
  auto found = connections_.find(number);
  if (found == connections_.end()) return;
  auto& connection = found->second;
  events_.push_back(
      {DriverEvent::Kind::refused, connection.slot.value_or(any_slot), connection.pid, {}, error.text()});
  (void)send_datagram(connection.socket.get(), encode({0, ErrorMessage{error.code(), error.text()}}));
  close(number);
}

// Does not end the application's time in its slot: that its process lives, or said bye, decides.
void Driver::Implementation::close(std::uint64_t number) {
  auto found = connections_.find(number);
  if (found == connections_.end()) return;
  if (found->second.slot) slots_[*found->second.slot].connection = 0;
  connections_.erase(found);
}

void Driver::Implementation::on_death(std::uint32_t slot) {
  // The event may be older than the slot's present application.
  if (!slots_[slot].process || !has_ended(slots_[slot].process.get())) return;
  if (slots_.is_reserved(slot)) return slots_.free(slot);
  if (slots_.state(slot) == SlotState::attached) end_application(slot);
}

void Driver::Implementation::end_application(std::uint32_t slot) {
  if (slots_.state(slot) != SlotState::attached) return;
  auto number = slots_[slot].connection;
  if (number != 0) serve(number);  // what it said before it died
  if (slots_.state(slot) != SlotState::attached) return;
  auto pid = slots_.entry(slot).pid.load(std::memory_order_relaxed);
  if (auto still = slots_[slot].connection; still != 0) close(still);
  bool lasting = options_.on_demand && has_lasting_writer(slot);
  slots_.leave(slot, SlotState::dead);
  names_.application_gone(slot);
  events_.push_back({DriverEvent::Kind::died, slot, pid, {}, slots_[slot].name});
  if (!options_.on_demand) return;
  segments_.leave(slot);
  slots_[slot].keeps_history = lasting;
  slots_[slot].death_ordinal = ++death_last_;
  drop_histories();
}

void Driver::Implementation::on_departure(std::uint32_t slot) {
  auto pid = slots_.entry(slot).pid.load(std::memory_order_relaxed);
  names_.application_gone(slot);
  events_.push_back({DriverEvent::Kind::detached, slot, pid, {}, slots_[slot].name});
  segments_.leave(slot);
  if (!options_.on_demand) return slots_.leave(slot, SlotState::done);
  slots_.free(slot);
  drop_histories();
}

bool Driver::Implementation::has_lasting_writer(std::uint32_t slot) const {
  auto mapping =
      Mapping::map(slots_[slot].arena.get(), slots_.arena_size_bytes(), Mapping::Access::read_only);
  if (!mapping) return false;
  const log::PeerArena arena{mapping->data(), mapping->size()};
  if (!arena.ready()) return false;
  for (std::uint32_t i = 0; i < arena.endpoint_count(); ++i) {
    auto& endpoint = arena.endpoint(i);
    if (endpoint.kind == static_cast<std::uint32_t>(log::EndpointKind::writer) && endpoint.durability > 0 &&
        endpoint.alive.load(std::memory_order_acquire) != 0)
      return true;
  }
  return false;
}

// The rule for drivers on demand: the arena of an application that left in order goes at once, as DDS has it
// for a DataWriter that is deleted. That of one which died stays for newcomers if it had a TRANSIENT_LOCAL
// writer, as long as anybody is attached, and at most kept_histories_max of them. (Readers that have it
// mapped keep it in any case.)
void Driver::Implementation::drop_histories() {
  bool nobody = slots_.attached_count() == 0;
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < slots_.count(); ++i) {
    if (slots_.state(i) != SlotState::dead) continue;
    if (nobody || !slots_[i].keeps_history)
      slots_.free(i);
    else
      kept.push_back(i);
  }
  std::sort(kept.begin(), kept.end(),
            [&](auto left, auto right) { return slots_[left].death_ordinal > slots_[right].death_ordinal; });
  for (std::size_t i = kept_histories_max; i < kept.size(); ++i) slots_.free(kept[i]);
}

bool Driver::Implementation::close_if_idle() {
  accept_all();
  if (!connections_.empty() || slots_.attached_count() > 0) return false;
  listener_.reset();
  return true;
}

Driver::Driver(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Driver::Driver(Driver&&) noexcept = default;
Driver& Driver::operator=(Driver&&) noexcept = default;
Driver::~Driver() = default;

Result<Driver> Driver::open(const DriverOptions& options) {
  auto implementation = Implementation::open(options);
  if (!implementation) return propagate(implementation);
  return Driver(std::move(*implementation));
}

int Driver::descriptor() const { return implementation_->epoll_.get(); }
std::vector<DriverEvent> Driver::poll(std::chrono::milliseconds timeout) {
  return implementation_->poll(timeout);
}
const std::string& Driver::socket_name() const { return implementation_->socket_name_; }

Status Driver::create_slots(std::uint32_t count, std::vector<std::string> identities) {
  return implementation_->create_slots(count, std::move(identities));
}
Result<std::uint32_t> Driver::add_slots(std::uint32_t count) { return implementation_->add_slots(count); }
void Driver::answer_reach(const DriverEvent::Question& question) { implementation_->answer_reach(question); }

void Driver::answer_spawn(const DriverEvent::Question& question, const Spawned& spawned) {
  implementation_->answer_spawn(question, spawned);
}
std::uint32_t Driver::slot_count_max() const { return implementation_->slots_.count_max(); }
std::uint32_t Driver::slot_count() const { return implementation_->slots_.count(); }
void Driver::set_identity(std::uint32_t slot, std::string identity) {
  implementation_->slots_[slot].identity = std::move(identity);
}
void Driver::expect(std::uint32_t slot, std::uint64_t token, std::uint32_t incarnation) {
  implementation_->end_application(slot);
  implementation_->slots_.expect(slot, token, incarnation);
}
std::uint32_t Driver::next_incarnation(std::uint32_t slot) {
  implementation_->end_application(slot);
  return implementation_->slots_.next_incarnation(slot);
}
void Driver::mark_dead(std::uint32_t slot) {
  implementation_->end_application(slot);
  if (state(slot) != SlotState::dead) implementation_->slots_.leave(slot, SlotState::dead);
}
void Driver::mark_done(std::uint32_t slot) {
  implementation_->end_application(slot);
  implementation_->segments_.leave(slot);
  implementation_->slots_.leave(slot, SlotState::done);
}
void Driver::set_unprotected() { implementation_->slots_.set_unprotected(); }
void Driver::set_ending() { implementation_->slots_.set_ending(); }
void Driver::wake_all() { implementation_->slots_.wake_all(); }

SlotState Driver::state(std::uint32_t slot) const { return implementation_->slots_.state(slot); }
std::uint32_t Driver::incarnation(std::uint32_t slot) const {
  return implementation_->slots_.entry(slot).incarnation.load(std::memory_order_relaxed);
}
std::uint32_t Driver::pid(std::uint32_t slot) const {
  return implementation_->slots_.entry(slot).pid.load(std::memory_order_relaxed);
}
ArenaView Driver::view(std::uint32_t slot) const { return implementation_->slots_.view(slot); }

std::uint32_t Driver::application_count() const { return implementation_->slots_.attached_count(); }
bool Driver::close_if_idle() { return implementation_->close_if_idle(); }

}  // namespace llamada::llamanet
