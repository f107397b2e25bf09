// How an application goes on when its driver has ended: docs/internals/driver-protocol.md, "A driver that
// replaces another one".
#include <array>

#include "ask.hpp"
#include "claim.hpp"
#include "driver_connection.hpp"
#include "driver_search.hpp"
#include "llamada/llamanet/application.hpp"
#include "socket.hpp"

namespace llamada::llamanet {
namespace {

/// A driver that is stopped is not waited for without end: data flow without a driver.
constexpr std::chrono::seconds answer_within{5};

}  // namespace

Result<std::vector<std::uint32_t>> Application::rejoin(bool may_start_driver) {
  auto options = options_;
  options.start_driver = options.start_driver && may_start_driver;
  return join_driver(options, [this](const ApplicationOptions& at) { return rejoin_at(at.socket_name); });
}

Result<std::vector<std::uint32_t>> Application::rejoin_at(const std::string& socket_name) {
  auto driver = connect_to_own(socket_name);
  if (!driver) return propagate(driver);
  if (auto checked = check_owner(driver->get(), socket_name); !checked) return propagate(checked);
  if (auto limited = limit_waits(driver->get(), answer_within); !limited) return propagate(limited);
  const std::array<int, 2> brought{own_->file(), bell_->event()};
  std::vector<FileDescriptor> descriptors;
  auto attached = ask<Attached>(driver->get(), 1, roster_of_old_driver(), descriptors,
                                attached_descriptors_count, brought);
  if (!attached) return propagate(attached);
  if (auto unlimited = limit_waits(driver->get(), std::chrono::milliseconds(0)); !unlimited)
    return propagate(unlimited);
  if (descriptors.size() != attached_descriptors_count)
    return failure(Errc::parse_error, "the driver sent {} descriptors instead of {}", descriptors.size(),
                   attached_descriptors_count);
  auto page = MappedPage::map(descriptors[0].get());
  if (!page) return propagate(page);
  if ((*page)->slot_count_max != roster_->slot_count_max())
    return failure(Errc::unsupported, "the driver that has come is of another version of Llamada");
  std::vector<std::uint32_t> moves;
  auto replaced =
      driver_->replace(*driver, [&] { moves = roster_->follow(std::move(*page), attached->slot); });
  if (!replaced) return propagate(replaced);
  if (options_.follows_driver)
    if (auto met = roster_->meet_driver(); !met) return propagate(met);
  return moves;
}

Rejoin Application::roster_of_old_driver() const {
  Rejoin message;
  message.slot = slot();
  message.arena = roster_->peer_arena(slot());
  message.arena_size_bytes = roster_->page().arena_size_bytes;
  message.driver_start_ns = roster_->page().start_ns;
  message.arena_last = roster_->page().arena_last.load(std::memory_order_relaxed);
  message.name = options_.name;
  message.roster = roster_->lines();
  return message;
}

}  // namespace llamada::llamanet
