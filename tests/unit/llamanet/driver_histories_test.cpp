#include "driver_histories.hpp"

#include <sys/syscall.h>

#include "llamada/log/arena_writer.hpp"
#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr std::uint8_t is_volatile = 0, transient_local = 1;

DriverOptions many_on_demand() {
  auto options = on_demand();
  options.slot_count_max = 64;
  options.arena_size_bytes = 1 << 20;
  return options;
}

/// A roster on demand whose applications live in this process: attached, each with one DataWriter.
struct Applications {
  Applications() {
    auto created = DriverRoster::create(many_on_demand());
    REQUIRE(created);
    roster = std::move(*created);
  }
  std::uint32_t attach(std::uint8_t durability, bool writer_is_alive = true) {
    const auto slot = roster.take();
    REQUIRE(slot);
    auto memory =
        Mapping::map(roster[*slot].arena.get(), roster.arena_size_bytes(), Mapping::Access::read_write);
    REQUIRE(memory);
    log::ArenaOptions options;
    options.log_count_max = options.cursor_count_max = options.endpoint_count_max = 4;
    options.match_count_max = options.grant_count_max = 4;
    auto arena = log::ArenaWriter::open(memory->bytes(), options);
    REQUIRE(arena);
    log::EndpointDescription writer;
    writer.durability = durability;
    const auto added = (*arena)->add_endpoint(writer);
    REQUIRE(added);
    auto& entry = const_cast<log::EndpointEntry&>((*arena)->reading().endpoint(*added));
    entry.alive.store(writer_is_alive ? 1 : 0);
    FileDescriptor self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    roster.attach(*slot, static_cast<std::uint32_t>(::getpid()), std::move(self), 0);
    return *slot;
  }
  void die(std::uint32_t slot) {
    roster.leave(slot, SlotState::dead);
    histories.on_death(slot);
  }
  void depart(std::uint32_t slot) {
    roster.free(slot);
    histories.drop();
  }

  DriverRoster roster;
  DriverHistories histories{roster};
};

}  // namespace

TEST_CASE("driver histories: only of a TRANSIENT_LOCAL writer that was there at the death", "[llamanet]") {
  Applications applications;
  applications.attach(is_volatile);  // stays
  const auto lasting = applications.attach(transient_local);
  const auto deleted = applications.attach(transient_local, false);
  const auto brief = applications.attach(is_volatile);
  for (const auto slot : {lasting, deleted, brief}) applications.die(slot);
  CHECK(applications.roster.state(lasting) == SlotState::dead);
  CHECK(applications.roster[lasting].arena);
  CHECK(applications.roster.state(deleted) == SlotState::free);
  CHECK(applications.roster.state(brief) == SlotState::free);
}

TEST_CASE("driver histories: as long as anybody is attached", "[llamanet]") {
  Applications applications;
  const auto one = applications.attach(is_volatile), other = applications.attach(is_volatile);
  const auto lasting = applications.attach(transient_local);
  applications.die(lasting);
  applications.depart(one);
  CHECK(applications.roster.state(lasting) == SlotState::dead);
  applications.depart(other);
  CHECK(applications.roster.state(lasting) == SlotState::free);
  CHECK_FALSE(applications.roster[lasting].arena);
}

TEST_CASE("driver histories: the oldest go when there are too many", "[llamanet]") {
  Applications applications;
  applications.attach(is_volatile);  // stays
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 0; i < DriverHistories::kept_max + 2; ++i)
    slots.push_back(applications.attach(transient_local));
  std::reverse(slots.begin(), slots.end());  // the deaths decide, not the slots
  for (std::size_t i = 0; i < slots.size(); ++i) {
    applications.die(slots[i]);
    for (std::size_t k = 0; k <= i; ++k) {
      const bool is_kept = i - k < DriverHistories::kept_max;
      CHECK(applications.roster.state(slots[k]) == (is_kept ? SlotState::dead : SlotState::free));
    }
  }
}
