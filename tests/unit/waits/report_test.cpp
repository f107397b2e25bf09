#include "llamada/waits/report.hpp"

#include <array>

#include "llamada/log/arena_layout.hpp"
#include "llamada/waits/report_area.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::waits;

namespace {

Report long_report() {
  Report report;
  report.survey = 7;
  report.incarnation = 2;
  report.call = 33;
  report.call_index = 1234567890123;
  report.activity = 99;
  report.since_ns = -5;
  report.any_suffices = true;
  report.is_replaying = true;
  for (int i = 0; i < 40; ++i) {
    Awaited awaited;
    awaited.kind = i % 2 == 0 ? Kind::receive : Kind::collective;
    awaited.peer = i;
    awaited.tag = any_tag;
    awaited.bytes = 1u << i % 30;
    awaited.ranks = i % 2 == 0 ? Ranks::everybody() : Ranks::of(std::array{1, 3, 5, 8});
    awaited.communicator = std::uint64_t{1} << 40;
    awaited.ordinal = 12;
    awaited.operation = "Bcast";
    awaited.name = std::string(100, 'x');
    report.add_awaited(awaited);
    report.add_message(i % 3, i % 2, "MPI_COMM_WORLD");
    report.add_receive(i, i, "MPI_COMM_WORLD");
    if (i < 20) report.positions.push_back({static_cast<std::uint64_t>(i), 5, i % 2 == 0});
  }
  return report;
}

}  // namespace

TEST_CASE("waits: a report comes back as it was", "[waits]") {
  const Report report = long_report();
  CHECK(report.awaited.size() == awaited_max);
  CHECK(report.awaited_count == 40);
  CHECK(report.messages.size() == 6);
  CHECK(report.messages[0].count == 7);
  CHECK(report.receives.size() == unmatched_max);
  const auto bytes = encode(report, 1 << 20);
  auto decoded = decode(bytes);
  REQUIRE(decoded);
  CHECK(*decoded == report);
  CHECK(decode(encode(Report{}, report_bytes_min)).value() == Report{});
}

TEST_CASE("waits: a report is cut to the room that there is, and says so", "[waits]") {
  for (const std::size_t room : {report_bytes_min, std::size_t{300}, std::size_t{1000}}) {
    const auto bytes = encode(long_report(), room);
    CHECK(bytes.size() <= room);
    auto decoded = decode(bytes);
    REQUIRE(decoded);
    CHECK(decoded->awaited_count == 40);
    CHECK_FALSE(decoded->has_all_positions);
  }
}

TEST_CASE("waits: a report that is none is refused", "[waits]") {
  auto bytes = encode(long_report(), 1 << 20);
  for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(decode({bytes.data(), size}));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto changed = bytes;
    changed[at] ^= std::byte{0xff};
    (void)decode(changed);  // whatever it is, it is refused or read within its bytes
  }
  bytes.push_back(std::byte{0});
  CHECK_FALSE(decode(bytes));
}

TEST_CASE("waits: a report lies in an arena whole, or not at all", "[waits]") {
  alignas(64) std::array<std::byte, sizeof(log::ArenaHeader::user)> user{};
  CHECK_FALSE(read_report(user));
  write_report(user, long_report());
  auto read = read_report(user);
  REQUIRE(read);
  CHECK(read->survey == 7);
  SECTION("a writer that was killed in between leaves none, and the next one writes over it") {
    auto& area = *reinterpret_cast<ReportArea*>(user.data() + report_area_offset);
    area.version.fetch_or(1);
    CHECK_FALSE(read_report(user));
    Report next;
    next.survey = 8;
    write_report(user, next);
    REQUIRE(read_report(user));
    CHECK(*read_report(user) == next);
  }
  SECTION("what a wild pointer has left is none") {
    auto& area = *reinterpret_cast<ReportArea*>(user.data() + report_area_offset);
    area.size_bytes.store(0xffffffff);
    CHECK_FALSE(read_report(user));
    area.size_bytes.store(40);
    CHECK_FALSE(read_report(user));
  }
}

TEST_CASE("waits: sets of ranks", "[waits]") {
  const Ranks even = Ranks::of(std::array{0, 2, 4, 6});
  REQUIRE(even.ranges.size() == 1);
  CHECK(even.contains(4));
  CHECK_FALSE(even.contains(5));
  CHECK_FALSE(even.contains(8));
  const Ranks mixed = Ranks::of(std::array{9, 1, 2, 3});
  for (const unsigned rank : {9u, 1u, 2u, 3u}) CHECK(mixed.contains(rank));
  for (const unsigned rank : {0u, 4u, 8u, 10u}) CHECK_FALSE(mixed.contains(rank));
  CHECK(
      Ranks::of(std::array{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1, 9, 2, 7, 3, 100, 5, 4, 2}).is_everybody);
  CHECK_FALSE(Ranks().contains(0));
}
