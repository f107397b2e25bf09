#include "llamada/llamanet/driver.hpp"

#include <algorithm>
#include <utility>

#include "claim.hpp"
#include "driver_implementation.hpp"
#include "llamada/base/check.hpp"
#include "process.hpp"

namespace llamada::llamanet {

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
  if (options.nodes) {
    auto links = DriverLinks::open(*options.nodes);
    if (!links) return propagate(links);
    driver->links_ = std::move(*links);
  }
  auto socket = DriverSocket::open(std::move(claim->listener), *driver);
  if (!socket) return propagate(socket);
  driver->socket_ = std::move(*socket);
  return driver;
}

Status Driver::Implementation::create_slots(std::uint32_t count, std::vector<std::string> identities) {
  LLAMADA_CHECK(roster_.count() == 0);
  const auto& nodes = options_.nodes;
  if (nodes && nodes->of_slot.size() != count)
    return failure(Errc::invalid_argument, "a job of {} processes has nodes for {}", count,
                   nodes->of_slot.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (nodes && nodes->of_slot[i] != nodes->own) {
      if (auto added = roster_.add_remote(nodes->of_slot[i]); !added) return added;
      continue;
    }
    auto slot = roster_.take();
    if (!slot) return propagate(slot);
    if (i < identities.size()) roster_[i].identity = std::move(identities[i]);
  }
  return {};
}

Result<std::uint32_t> Driver::Implementation::add_slots(std::uint32_t count) {
  if (options_.nodes)
    return failure(
        Errc::unsupported,
        "the driver of one of several nodes does not choose slots: they are numbered through the job");
  auto first = roster_.add(count);
  // What is still to be told of processes that had these slots before concerns nobody.
  if (first)
    std::erase_if(events_, [&](const DriverEvent& event) {
      return event.slot >= *first && event.slot - *first < count;
    });
  return first;
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

void Driver::Implementation::on_process_end(std::uint32_t slot) {
  // The event may be older than the slot's present application.
  if (!roster_[slot].process || !has_ended(roster_[slot].process.get())) return;
  if (roster_.is_reserved(slot)) return roster_.free(slot);
  if (roster_.state(slot) == SlotState::attached) end_application(slot);
}

void Driver::Implementation::on_bell() { events_.push_back({DriverEvent::Kind::woken}); }

Result<log::ArenaWriter*> Driver::Implementation::arena() {
  if (arena_) return &arena_->writer();
  auto opened = DriverArena::open(roster_.memory(), roster_.arena_size_bytes());
  if (!opened) return propagate(opened);
  if (auto watched = socket_->watch_bell(opened->event()); !watched) return propagate(watched);
  arena_ = std::move(*opened);
  roster_.set_has_arena();
  return &arena_->writer();
}

void Driver::Implementation::on_links() {
  if (history_server_) history_server_->work();
  if (probe_ && probe_->work())
    events_.push_back({.kind = DriverEvent::Kind::probed, .probed = probe_->results()});
}

Status Driver::Implementation::probe_nodes(std::span<const std::string> endpoints_of_nodes) {
  if (!links_)
    return failure(Errc::invalid_argument, "the driver of a job on one node has no other nodes to probe");
  auto links = links_->probe(endpoints_of_nodes);
  if (!links) return propagate(links);
  auto probe = DriverProbe::begin(std::move(*links));
  if (!probe) return propagate(probe);
  probe_ = std::move(*probe);
  return socket_->watch_links(probe_->descriptors());
}

Status Driver::Implementation::meet_nodes(std::span<const std::string> endpoints_of_nodes,
                                          const LinkChoice& choice) {
  if (!links_)
    return failure(Errc::invalid_argument, "the driver of a job on one node has no other nodes to meet");
  if (auto met = links_->meet(endpoints_of_nodes, choice); !met) return met;
  if (probe_) probe_->end();
  auto own = links_->own_sockets();
  if (!own) return propagate(own);
  auto server = HistoryServer::open(links_->book(), std::move(own->first), std::move(own->second), roster_);
  if (!server) return propagate(server);
  history_server_ = std::move(*server);
  return socket_->watch_links(history_server_->descriptors());
}

Result<std::string> Driver::Implementation::add_slots_of_nodes(std::span<const std::uint32_t> nodes) {
  if (!links_) return failure(Errc::invalid_argument, "the driver of a job on one node has no other nodes");
  if (nodes.empty()) return failure(Errc::invalid_argument, "no slots are to be added");
  const std::uint32_t first = roster_.count();
  Status added = roster_.add_of_nodes(nodes);
  if (roster_.count() == first) return propagate(added);
  auto endpoints = links_->add(nodes);
  if (endpoints && added) return endpoints;
  drop_slots(first, roster_.count() - first);
  return added ? Result<std::string>(propagate(endpoints)) : Result<std::string>(propagate(added));
}

Status Driver::Implementation::meet_slots(std::span<const std::string> endpoints_of_nodes) {
  if (!history_server_)
    return failure(Errc::invalid_argument, "the driver has not met the other nodes of its job");
  const std::size_t known_count = links_->book().entries.size();
  const std::vector<BookEntry> known = links_->book().entries;
  if (auto met = links_->meet_more(endpoints_of_nodes); !met) return met;
  history_server_->take_book(links_->book());
  const std::vector<BookEntry>& entries = links_->book().entries;
  for (std::uint32_t slot = 0; slot < entries.size(); ++slot) {
    const bool is_new = entries[slot].is_known() && (slot >= known_count || !known[slot].is_known());
    if (is_new && roster_.is_remote(slot)) roster_.expect_remote(slot);
  }
  return {};
}

void Driver::Implementation::drop_slots(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t slot = first; slot < first + count && slot < roster_.count(); ++slot) roster_.free(slot);
}

void Driver::Implementation::set_remote(std::uint32_t slot, SlotState state, std::uint32_t incarnation) {
  roster_.set_remote(slot, state, incarnation);
  if (history_server_) history_server_->changed(slot);
}

Result<MappedArena> Driver::Implementation::map(std::uint32_t slot) const {
  if (slot >= roster_.count() || !roster_[slot].arena)
    return failure(Errc::not_found, "there is no arena in slot {}", slot);
  return MappedArena::map(roster_[slot].arena.get(), roster_.arena_size_bytes());
}

void Driver::Implementation::end_application(std::uint32_t slot) {
  if (roster_.is_remote(slot) || roster_.state(slot) != SlotState::attached) return;
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
Result<std::string> Driver::add_slots_of_nodes(std::span<const std::uint32_t> nodes) {
  return implementation_->add_slots_of_nodes(nodes);
}
Status Driver::meet_slots(std::span<const std::string> endpoints_of_nodes) {
  return implementation_->meet_slots(endpoints_of_nodes);
}
void Driver::drop_slots(std::uint32_t first, std::uint32_t count) {
  implementation_->drop_slots(first, count);
}
void Driver::answer_spawn(const DriverEvent::Question& question, const Spawned& spawned) {
  implementation_->answer(question, spawned);
}
void Driver::answer_reach(const DriverEvent::Question& question, const Reached& reached) {
  implementation_->answer(question, reached);
}
void Driver::wake(const DriverEvent::Question& question, std::array<FileDescriptor, 3> streams) {
  implementation_->wake(question, std::move(streams));
}
void Driver::answer_inject(const DriverEvent::Question& question, const Injected& injected) {
  implementation_->answer(question, injected);
}
void Driver::answer_name(const DriverEvent::Question& question, const Named& named) {
  implementation_->answer(question, named);
}
void Driver::answer_move(const DriverEvent::Question& question, const Moved& moved) {
  implementation_->answer(question, moved);
}
void Driver::answer_agree(const DriverEvent::Question& question, const Agreed& agreed) {
  implementation_->answer(question, agreed);
}
void Driver::ask_again() { implementation_->roster_.announce(); }
std::uint32_t Driver::slot_count_max() const { return implementation_->roster_.count_max(); }
std::uint32_t Driver::slot_count() const { return implementation_->roster_.count(); }
void Driver::set_identity(std::uint32_t slot, const std::string& identity) {
  implementation_->roster_[slot].identity = identity;
}
void Driver::expect(std::uint32_t slot, std::uint64_t token, std::uint32_t incarnation) {
  implementation_->end_application(slot);
  implementation_->roster_.expect(slot, token, incarnation);
}
std::uint32_t Driver::next_incarnation(std::uint32_t slot) {
  implementation_->end_application(slot);
  if (implementation_->links_) implementation_->links_->renew(slot);
  return implementation_->roster_.next_incarnation(slot);
}
void Driver::mark_dead(std::uint32_t slot) {
  implementation_->end_application(slot);
  if (state(slot) != SlotState::dead) implementation_->roster_.leave(slot, SlotState::dead);
}
void Driver::mark_done(std::uint32_t slot) {
  implementation_->end_application(slot);
  implementation_->segments_.leave(slot);
  if (state(slot) != SlotState::lost) implementation_->roster_.leave(slot, SlotState::done);
}
void Driver::mark_lost(std::uint32_t slot, bool with_node) {
  if (is_remote(slot))
    return implementation_->set_remote(slot, with_node ? SlotState::lost_with_node : SlotState::lost,
                                       incarnation(slot));
  implementation_->end_application(slot);
  implementation_->roster_.leave(slot, SlotState::lost);
}
void Driver::limit_log(std::uint64_t size_bytes) { implementation_->roster_.limit_log(size_bytes); }
void Driver::set_unprotected() { implementation_->roster_.set_unprotected(); }
void Driver::set_ending() { implementation_->roster_.set_ending(); }
void Driver::begin_cut(std::uint64_t number) { implementation_->roster_.begin_cut(number); }
Status Driver::restore_journal(std::uint32_t slot, log::LogKey key,
                               std::span<const log::JournalEntry> entries) {
  return implementation_->restore_journal(slot, key, entries);
}
void Driver::wake_all() { implementation_->roster_.wake_all(); }
std::uint32_t Driver::raise_survey() { return implementation_->roster_.raise_survey(); }

SlotState Driver::state(std::uint32_t slot) const { return implementation_->roster_.state(slot); }
std::uint32_t Driver::incarnation(std::uint32_t slot) const {
  return implementation_->roster_.entry(slot).incarnation.load(std::memory_order_relaxed);
}
std::uint32_t Driver::pid(std::uint32_t slot) const {
  return implementation_->roster_.entry(slot).pid.load(std::memory_order_relaxed);
}
ArenaView Driver::view(std::uint32_t slot) const { return implementation_->roster_.view(slot); }

std::string Driver::endpoints() const {
  return implementation_->links_ ? implementation_->links_->endpoints() : std::string();
}
std::string Driver::why_no_ethernet() const {
  return implementation_->links_ ? implementation_->links_->why_no_ethernet() : std::string();
}
std::optional<std::vector<std::uint32_t>> Driver::ping_nodes() {
  if (!implementation_->probe_) return std::nullopt;
  return implementation_->probe_->ping();
}
Status Driver::stop_hearing(std::vector<std::uint32_t> nodes) {
  if (implementation_->probe_) implementation_->probe_->stop_hearing(nodes);
  if (implementation_->links_) return implementation_->links_->stop_hearing(std::move(nodes));
  return failure(Errc::invalid_argument, "the driver of a job on one node has no other nodes");
}
Status Driver::probe_nodes(std::span<const std::string> endpoints_of_nodes) {
  return implementation_->probe_nodes(endpoints_of_nodes);
}
Status Driver::meet_nodes(std::span<const std::string> endpoints_of_nodes, const LinkChoice& choice) {
  return implementation_->meet_nodes(endpoints_of_nodes, choice);
}
void Driver::set_remote(std::uint32_t slot, SlotState state, std::uint32_t incarnation) {
  implementation_->set_remote(slot, state, incarnation);
}
bool Driver::is_remote(std::uint32_t slot) const { return implementation_->roster_.is_remote(slot); }
std::vector<std::uint64_t> Driver::dropped_frames() const {
  const auto& server = implementation_->history_server_;
  return server ? server->dropped_frames() : std::vector<std::uint64_t>{};
}

Result<log::ArenaWriter*> Driver::arena() { return implementation_->arena(); }
Result<MappedArena> Driver::map(std::uint32_t slot) const { return implementation_->map(slot); }
void Driver::wake(std::uint32_t slot) { implementation_->roster_.wake(slot); }

bool Driver::has_logs_in_memory() const {
  const MemorySource& memory = implementation_->roster_.arena_memory();
  return memory.is_directory() && memory.is_in_memory();
}
std::uint32_t Driver::application_count() const { return implementation_->roster_.attached_count(); }
bool Driver::close_if_idle() { return implementation_->close_if_idle(); }

}  // namespace llamada::llamanet
