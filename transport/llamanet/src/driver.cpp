#include "llamada/llamanet/driver.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "claim.hpp"
#include "driver_histories.hpp"
#include "driver_roster.hpp"
#include "driver_socket.hpp"
#include "llamada/base/check.hpp"
#include "names.hpp"
#include "process.hpp"
#include "shared_segments.hpp"

namespace llamada::llamanet {
namespace {

/// With `rejoin`: arena and eventfd.
constexpr std::size_t brought_descriptors = 2;

}  // namespace

/// What the messages and the ends of processes do to the roster, the histories, and what applications share.
class Driver::Implementation final : private DriverSocket::Host {
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
  DriverRoster roster_;
  DriverHistories histories_{roster_};
  SharedSegments segments_{roster_.memory()};
  Names names_;
  std::optional<DriverSocket> socket_;  // from open() on
  std::vector<DriverEvent> events_;

 private:
  Status on_datagram(std::uint64_t connection, Datagram datagram) override;
  void on_close(const Caller& caller) override;
  void on_refused(const Caller& caller, const std::string& why) override;
  void on_process_end(std::uint32_t slot) override;

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
  // Messages that only a driver sends.
  template <typename Other>
  Status on(std::uint64_t, std::uint32_t, const Other&) {
    return failure(Errc::parse_error, "a message that only a driver may send");
  }
  void answer(std::uint64_t number, std::uint32_t request, Message message,
              std::function<Status(Passengers&)> board = {});
  Status board_peers(const std::vector<std::uint32_t>& slots, Passengers& passengers) const;
  void attach(std::uint64_t number, std::uint32_t request, std::uint32_t slot, FileDescriptor process,
              const std::string& name);
  Result<std::uint32_t> slot_for(const Attach& attach);
  Result<std::uint32_t> expected_slot(const Attach& attach) const;
  void on_departure(std::uint32_t slot);
};

Result<std::unique_ptr<Driver::Implementation>> Driver::Implementation::open(const DriverOptions& options) {
  auto driver = std::make_unique<Implementation>();
  driver->options_ = options;
  if (auto checked = check_name_space(); !checked) return propagate(checked);
  auto claim = options.secret_name ? claim_secret(options.name) : claim_known(options.name);
  if (!claim) return propagate(claim);
  driver->socket_name_ = std::move(claim->socket_name);
  auto roster = DriverRoster::create(options);
  if (!roster) return propagate(roster);
  driver->roster_ = std::move(*roster);
  auto socket = DriverSocket::open(std::move(claim->listener), *driver);
  if (!socket) return propagate(socket);
  driver->socket_ = std::move(*socket);
  return driver;
}

Status Driver::Implementation::create_slots(std::uint32_t count, std::vector<std::string> identities) {
  LLAMADA_CHECK(roster_.count() == 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto slot = roster_.take();
    if (!slot) return propagate(slot);
    if (i < identities.size()) roster_[i].identity = std::move(identities[i]);
  }
  return {};
}

Result<std::uint32_t> Driver::Implementation::add_slots(std::uint32_t count) {
  auto first = roster_.add(count);
  // What is still to be told of processes that had these slots before concerns nobody.
  if (first)
    std::erase_if(events_, [&](const DriverEvent& event) {
      return event.slot >= *first && event.slot - *first < count;
    });
  return first;
}

void Driver::Implementation::answer_spawn(const DriverEvent::Question& question, const Spawned& spawned) {
  if (socket_->has(question.connection)) answer(question.connection, question.request, spawned);
}

void Driver::Implementation::answer_reach(const DriverEvent::Question& question) {
  if (socket_->has(question.connection)) answer(question.connection, question.request, Reached{});
}

std::vector<DriverEvent> Driver::Implementation::poll(std::chrono::milliseconds timeout) {
  socket_->poll(timeout);
  if (!socket_->has_unsent()) roster_.let_go_of_done();
  return std::exchange(events_, {});
}

void Driver::Implementation::on_refused(const Caller& caller, const std::string& why) {
  events_.push_back({DriverEvent::Kind::refused, caller.slot.value_or(any_slot), caller.pid, {}, why});
}

// Does not end the application's time in its slot: that its process lives, or said bye, decides.
void Driver::Implementation::on_close(const Caller& caller) {
  if (caller.slot) roster_[*caller.slot].connection = 0;
}

Status Driver::Implementation::on_datagram(std::uint64_t number, Datagram datagram) {
  auto envelope = decode(datagram.bytes);
  if (!envelope) return propagate(envelope);
  if (const auto* rejoin = std::get_if<Rejoin>(&envelope->message))
    return on_rejoin(number, envelope->request, *rejoin, std::move(datagram.descriptors));
  return std::visit([&](const auto& message) { return on(number, envelope->request, message); },
                    envelope->message);
}

void Driver::Implementation::answer(std::uint64_t number, std::uint32_t request, Message message,
                                    std::function<Status(Passengers&)> board) {
  socket_->answer(number, {encode({request, std::move(message)}), std::move(board)});
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Attach& attach) {
  auto& caller = socket_->caller(number);
  if (caller.greeted) return failure(Errc::parse_error, "a second attach on one connection");
  auto process = socket_->process_of(number);
  if (!process) return propagate(process);
  // It may have died since it asked, and its successor be expected by now.
  if (has_ended(process->get())) return failure(Errc::closed, "process {} is dead", caller.pid);
  auto slot = slot_for(attach);
  if (!slot) return propagate(slot);
  if (auto watched = socket_->watch_process(process->get(), *slot); !watched) {
    if (options_.on_demand) roster_.free(*slot);
    return watched;
  }
  this->attach(number, request, *slot, std::move(*process), attach.name);
  return {};
}

void Driver::Implementation::attach(std::uint64_t number, std::uint32_t request, std::uint32_t slot,
                                    FileDescriptor process, const std::string& name) {
  auto& caller = socket_->caller(number);
  roster_[slot].name = name;
  roster_.attach(slot, caller.pid, std::move(process), number);
  caller.slot = slot;
  caller.greeted = true;
  Attached attached{slot,
                    roster_.entry(slot).incarnation.load(std::memory_order_relaxed),
                    roster_.count(),
                    0,
                    options_.profile,
                    roster_[slot].identity};
  events_.push_back({DriverEvent::Kind::attached, slot, caller.pid, {}, name});
  answer(number, request, std::move(attached), [this, slot](Passengers& passengers) {
    passengers.descriptors = {roster_.page_descriptor(), roster_[slot].arena.get(),
                              roster_[slot].event.get()};
    return Status();
  });
  roster_.wake_all();
}

Status Driver::Implementation::on_rejoin(std::uint64_t number, std::uint32_t request, const Rejoin& rejoin,
                                         std::vector<FileDescriptor> brought) {
  auto& caller = socket_->caller(number);
  if (!options_.on_demand) return failure(Errc::unsupported, "the driver of a job replaces no other one");
  if (caller.greeted) return failure(Errc::parse_error, "rejoin after attach");
  if (brought.size() != brought_descriptors || rejoin.arena == 0)
    return failure(Errc::parse_error, "rejoin without an arena");
  if (rejoin.arena_size_bytes != roster_.arena_size_bytes())
    return failure(Errc::unsupported, "arenas of {} bytes; those of this driver have {}",
                   rejoin.arena_size_bytes, roster_.arena_size_bytes());
  auto process = socket_->process_of(number);
  if (!process) return propagate(process);
  if (has_ended(process->get())) return failure(Errc::closed, "process {} is dead", caller.pid);
  if (auto taken = roster_.take_over(
          rejoin, [this](int process, std::uint32_t slot) { return socket_->watch_process(process, slot); });
      !taken)
    return taken;
  if (auto known = roster_.find_arena(rejoin.arena);
      known && roster_.state(*known) == SlotState::attached &&
      roster_.entry(*known).pid.load(std::memory_order_relaxed) == caller.pid) {
    // It has not waited for the answer, and asks again.
    if (auto old = roster_[*known].connection; old != 0) socket_->close(old);
    attach(number, request, *known, std::move(*process), rejoin.name);
    return {};
  }
  auto slot = roster_.adopt(rejoin, std::move(brought[0]), std::move(brought[1]));
  if (!slot) return propagate(slot);
  if (auto watched = socket_->watch_process(process->get(), *slot); !watched) {
    roster_.free(*slot);
    return watched;
  }
  attach(number, request, *slot, std::move(*process), rejoin.name);
  return {};
}

Result<std::uint32_t> Driver::Implementation::slot_for(const Attach& attach) {
  if (!options_.on_demand) return expected_slot(attach);
  if (attach.slot != any_slot)
    return failure(Errc::invalid_argument, "this driver gives out its slots by itself");
  return roster_.take();
}

Result<std::uint32_t> Driver::Implementation::expected_slot(const Attach& attach) const {
  if (attach.slot >= roster_.count())
    return failure(Errc::not_found, "this driver has no slot {}; it has {}", attach.slot, roster_.count());
  if (roster_.state(attach.slot) != SlotState::expected)
    return failure(Errc::already_exists,
                   "nobody is expected in slot {} now: a process has attached to it before", attach.slot);
  if (roster_[attach.slot].token != attach.token)
    return failure(Errc::permission_denied, "the token for slot {} is not the right one", attach.slot);
  return attach.slot;
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Peers& peers) {
  if (!socket_->caller(number).greeted) return failure(Errc::parse_error, "peers before attach or inspect");
  if (peers.first > roster_.count_max() || peers.count > roster_.count_max() - peers.first)
    return failure(Errc::invalid_argument, "slots {} to {}; the driver has room for {}", peers.first,
                   std::uint64_t{peers.first} + peers.count, roster_.count_max());
  PeersAre are{peers.first, {}};
  std::vector<std::uint32_t> present;
  for (auto slot = peers.first; slot < peers.first + peers.count; ++slot) {
    auto& entry = roster_.entry(slot);
    are.peers.push_back(
        {entry.incarnation.load(std::memory_order_relaxed), entry.arena.load(std::memory_order_relaxed)});
    if (roster_.is_reserved(slot)) are.peers.back().arena = 0;  // its application has not brought it yet
    if (are.peers.back().arena == 0) continue;
    present.push_back(slot);
    if (const auto holder = socket_->caller(number).slot) roster_.hold(slot, *holder);
  }
  answer(number, request, std::move(are), [this, present = std::move(present)](Passengers& passengers) {
    return board_peers(present, passengers);
  });
  return {};
}

/// Arena, read-only, and eventfd of each.
Status Driver::Implementation::board_peers(const std::vector<std::uint32_t>& slots,
                                           Passengers& passengers) const {
  for (const std::uint32_t slot : slots) {
    auto arena = reopen_read_only(roster_[slot].arena.get());
    if (!arena) return propagate(arena);
    passengers.descriptors.push_back(arena->get());
    passengers.descriptors.push_back(roster_[slot].event.get());
    passengers.opened.push_back(std::move(*arena));
  }
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t, const Say& say) {
  auto& caller = socket_->caller(number);
  if (!caller.slot) return failure(Errc::parse_error, "say before attach");
  events_.push_back({DriverEvent::Kind::said, *caller.slot, caller.pid, say, {}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Inspect&) {
  auto& caller = socket_->caller(number);
  if (caller.greeted) return failure(Errc::parse_error, "inspect after attach");
  caller.greeted = true;
  answer(number, request, Inspected{roster_.count(), options_.name, options_.profile},
         [this](Passengers& passengers) {
           passengers.descriptors = {roster_.page_descriptor()};
           return Status();
         });
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t, const Bye&) {
  auto slot = socket_->caller(number).slot;
  if (!slot) return failure(Errc::parse_error, "bye before attach");
  socket_->caller(number).slot.reset();
  socket_->close(number);
  on_departure(*slot);
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Share& share) {
  auto slot = socket_->caller(number).slot;
  if (!slot) return failure(Errc::parse_error, "share before attach");
  auto memory = segments_.share(*slot, share.name, share.size_bytes);
  if (!memory) {
    answer(number, request, Shared{false, memory.error().code(), memory.error().text()});
    return {};
  }
  // Its asker holds the segment, so that it stays open until the answer is sent.
  answer(number, request, Shared{}, [shared = *memory](Passengers& passengers) {
    passengers.descriptors = {shared};
    return Status();
  });
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Release& release) {
  auto slot = socket_->caller(number).slot;
  if (!slot) return failure(Errc::parse_error, "release before attach");
  segments_.release(*slot, release.name);
  answer(number, request, Released{});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Spawn& spawn) {
  auto& caller = socket_->caller(number);
  if (!caller.slot) return failure(Errc::parse_error, "spawn before attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver starts no programs");
  events_.push_back({DriverEvent::Kind::spawn, *caller.slot, caller.pid, {}, {}, spawn, {number, request}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Name& name) {
  auto& caller = socket_->caller(number);
  if (!caller.slot) return failure(Errc::parse_error, "name before attach");
  answer(number, request, names_.handle(*caller.slot, name));
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Lengthen&) {
  auto slot = socket_->caller(number).slot;
  if (!slot) return failure(Errc::parse_error, "lengthen before attach");
  if (auto lengthened = roster_.lengthen(*slot); !lengthened) return lengthened;
  answer(number, request, Lengthened{});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Reach& reach) {
  auto& caller = socket_->caller(number);
  if (!caller.slot) return failure(Errc::parse_error, "reach before attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver replaces nobody");
  events_.push_back(
      {DriverEvent::Kind::reach, *caller.slot, caller.pid, {}, {}, {}, {number, request}, reach});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t, const Part& part) {
  auto& caller = socket_->caller(number);
  if (!caller.slot) return failure(Errc::parse_error, "part before attach");
  roster_.let_go(part.slot, part.arena, *caller.slot);
  return {};
}

void Driver::Implementation::on_process_end(std::uint32_t slot) {
  // The event may be older than the slot's present application.
  if (!roster_[slot].process || !has_ended(roster_[slot].process.get())) return;
  if (roster_.is_reserved(slot)) return roster_.free(slot);
  if (roster_.state(slot) == SlotState::attached) end_application(slot);
}

void Driver::Implementation::end_application(std::uint32_t slot) {
  if (roster_.state(slot) != SlotState::attached) return;
  auto number = roster_[slot].connection;
  if (number != 0) socket_->serve(number);  // what it said before it died
  if (roster_.state(slot) != SlotState::attached) return;
  auto pid = roster_.entry(slot).pid.load(std::memory_order_relaxed);
  if (auto still = roster_[slot].connection; still != 0) socket_->close(still);
  roster_.leave(slot, SlotState::dead);
  names_.application_gone(slot);
  events_.push_back({DriverEvent::Kind::died, slot, pid, {}, roster_[slot].name});
  if (!options_.on_demand) return;
  segments_.leave(slot);
  histories_.on_death(slot);
}

void Driver::Implementation::on_departure(std::uint32_t slot) {
  auto pid = roster_.entry(slot).pid.load(std::memory_order_relaxed);
  names_.application_gone(slot);
  events_.push_back({DriverEvent::Kind::detached, slot, pid, {}, roster_[slot].name});
  segments_.leave(slot);
  if (!options_.on_demand) return roster_.leave(slot, SlotState::done);
  roster_.free(slot);
  histories_.drop();
}

bool Driver::Implementation::close_if_idle() {
  socket_->accept_all();
  if (socket_->has_connections() || roster_.attached_count() > 0) return false;
  socket_->stop_listening();
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

int Driver::descriptor() const { return implementation_->socket_->descriptor(); }
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
std::uint32_t Driver::slot_count_max() const { return implementation_->roster_.count_max(); }
std::uint32_t Driver::slot_count() const { return implementation_->roster_.count(); }
void Driver::set_identity(std::uint32_t slot, std::string identity) {
  implementation_->roster_[slot].identity = std::move(identity);
}
void Driver::expect(std::uint32_t slot, std::uint64_t token, std::uint32_t incarnation) {
  implementation_->end_application(slot);
  implementation_->roster_.expect(slot, token, incarnation);
}
std::uint32_t Driver::next_incarnation(std::uint32_t slot) {
  implementation_->end_application(slot);
  return implementation_->roster_.next_incarnation(slot);
}
void Driver::mark_dead(std::uint32_t slot) {
  implementation_->end_application(slot);
  if (state(slot) != SlotState::dead) implementation_->roster_.leave(slot, SlotState::dead);
}
void Driver::mark_done(std::uint32_t slot) {
  implementation_->end_application(slot);
  implementation_->segments_.leave(slot);
  implementation_->roster_.leave(slot, SlotState::done);
}
void Driver::set_unprotected() { implementation_->roster_.set_unprotected(); }
void Driver::set_ending() { implementation_->roster_.set_ending(); }
void Driver::wake_all() { implementation_->roster_.wake_all(); }

SlotState Driver::state(std::uint32_t slot) const { return implementation_->roster_.state(slot); }
std::uint32_t Driver::incarnation(std::uint32_t slot) const {
  return implementation_->roster_.entry(slot).incarnation.load(std::memory_order_relaxed);
}
std::uint32_t Driver::pid(std::uint32_t slot) const {
  return implementation_->roster_.entry(slot).pid.load(std::memory_order_relaxed);
}
ArenaView Driver::view(std::uint32_t slot) const { return implementation_->roster_.view(slot); }

std::uint32_t Driver::application_count() const { return implementation_->roster_.attached_count(); }
bool Driver::close_if_idle() { return implementation_->close_if_idle(); }

}  // namespace llamada::llamanet
