// What each message of an application or a tool does: docs/internals/driver-protocol.md.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "driver_implementation.hpp"
#include "process.hpp"

namespace llamada::llamanet {
namespace {

/// With `rejoin`: arena and eventfd.
constexpr std::size_t brought_descriptors = 2;

}  // namespace

Status Driver::Implementation::on_datagram(std::uint64_t number, Datagram datagram) {
  auto envelope = decode(datagram.bytes);
  if (!envelope) return propagate(envelope);
  if (const auto* rejoin = std::get_if<Rejoin>(&envelope->message))
    return on_rejoin(number, envelope->request, *rejoin, std::move(datagram.descriptors));
  return std::visit([&](const auto& message) { return on(number, envelope->request, message); },
                    envelope->message);
}

void Driver::Implementation::answer(std::uint64_t number, std::uint32_t request, const Message& message,
                                    std::function<Status(Passengers&)> board) {
  socket_->answer(number, {encode({request, message}), std::move(board)});
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
                    links_ ? attached_has_book : 0,
                    options_.profile,
                    roster_[slot].identity};
  events_.push_back({DriverEvent::Kind::attached, slot, caller.pid, {}, name});
  answer(number, request, std::move(attached), [this, slot](Passengers& passengers) {
    passengers.descriptors = {roster_.page_descriptor(), roster_[slot].arena.get(),
                              roster_[slot].event.get()};
    if (!links_) return Status();
    const auto of_links = links_->descriptors(slot);
    if (!of_links) return Status(tl::unexpected<Error>(of_links.error()));
    std::ranges::copy(*of_links, std::back_inserter(passengers.descriptors));
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
  if (roster_.is_remote(attach.slot))
    return failure(Errc::invalid_argument, "slot {} belongs to node {}, and this is the driver of node {}",
                   attach.slot, roster_.entry(attach.slot).node.load(std::memory_order_relaxed),
                   options_.nodes->own);
  if (links_ && !links_->has_book())
    return failure(Errc::not_found, "this driver has not heard yet where the processes of other nodes are");
  if (roster_.state(attach.slot) != SlotState::expected)
    return failure(Errc::already_exists,
                   "nobody is expected in slot {} now: a process has attached to it before", attach.slot);
  if (roster_[attach.slot].token != attach.token)
    return failure(Errc::permission_denied, "the token for slot {} is not the right one", attach.slot);
  return attach.slot;
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Peers& peers) {
  if (!socket_->caller(number).greeted) return failure(Errc::parse_error, "peers before attach or inspect");
  if (peers.first == driver_slot && peers.count == 1) return answer_about_arena(number, request);
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

/// The driver's own arena, as if it were in `driver_slot`.
Status Driver::Implementation::answer_about_arena(std::uint64_t number, std::uint32_t request) {
  constexpr std::uint32_t first_incarnation = 1, arena_number = 1;
  if (!arena_) {
    answer(number, request, PeersAre{driver_slot, {Peer{}}});
    return {};
  }
  answer(number, request, PeersAre{driver_slot, {{first_incarnation, arena_number}}},
         [this](Passengers& passengers) {
           auto file = reopen_read_only(arena_->file());
           if (!file) return Status(propagate(file));
           passengers.descriptors = {file->get(), arena_->event()};
           passengers.opened.push_back(std::move(*file));
           return Status();
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
  if (options_.nodes) {
    DriverEvent event{DriverEvent::Kind::name, *caller.slot, caller.pid};
    event.question = {number, request};
    event.name = name;
    events_.push_back(std::move(event));
    return {};
  }
  answer(number, request, names_.handle(*caller.slot, name));
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Move& move) {
  auto& caller = socket_->caller(number);
  if (!caller.slot) return failure(Errc::parse_error, "move before attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver has no job");
  DriverEvent event{DriverEvent::Kind::move, *caller.slot, caller.pid};
  event.question = {number, request};
  event.move = move;
  events_.push_back(std::move(event));
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Agree& agree) {
  auto& caller = socket_->caller(number);
  if (!caller.slot) return failure(Errc::parse_error, "agree before attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver has no job");
  DriverEvent event{DriverEvent::Kind::agree, *caller.slot, caller.pid};
  event.question = {number, request};
  event.vote = agree.vote;
  events_.push_back(std::move(event));
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Park& park) {
  auto& caller = socket_->caller(number);
  if (caller.greeted) return failure(Errc::parse_error, "park after attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver keeps no standbys");
  if (park.slot >= roster_.count() || roster_.is_remote(park.slot))
    return failure(Errc::not_found, "this driver has no slot {} of its own; it has {} slots", park.slot,
                   roster_.count());
  caller.greeted = true;
  DriverEvent event{DriverEvent::Kind::parked, park.slot, caller.pid};
  event.question = {number, request};
  event.park = park;
  events_.push_back(std::move(event));
  return {};
}

void Driver::Implementation::wake(const DriverEvent::Question& question,
                                  std::array<FileDescriptor, 3> streams) {
  if (!socket_->has(question.connection)) return;
  socket_->caller(question.connection).greeted = false;  // it attaches next
  // Shared: the answer may have to be tried again.
  const auto kept = std::make_shared<std::array<FileDescriptor, 3>>(std::move(streams));
  answer(question.connection, question.request, Woken{}, [kept](Passengers& passengers) {
    for (const FileDescriptor& each : *kept) passengers.descriptors.push_back(each.get());
    return Status();
  });
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Book&) {
  if (!socket_->caller(number).slot) return failure(Errc::parse_error, "book before attach");
  if (!links_) return failure(Errc::unsupported, "all applications are on this node, so there is no book");
  answer(number, request, BookIs{}, [this](Passengers& passengers) {
    passengers.descriptors = {links_->book_file()};
    return Status();
  });
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

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Inject& inject) {
  auto& caller = socket_->caller(number);
  if (caller.slot) return failure(Errc::parse_error, "inject after attach");
  if (options_.on_demand) return failure(Errc::unsupported, "this driver has no job");
  caller.greeted = true;
  events_.push_back(
      {DriverEvent::Kind::inject, any_slot, caller.pid, {}, inject.rule, {}, {number, request}});
  return {};
}

Status Driver::Implementation::on(std::uint64_t number, std::uint32_t request, const Survey&) {
  if (!socket_->caller(number).greeted) return failure(Errc::parse_error, "survey before inspect");
  answer(number, request, Surveyed{roster_.raise_survey()});
  return {};
}

}  // namespace llamada::llamanet
