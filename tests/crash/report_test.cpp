// A rank is killed at every step of its wait report: a reader has a whole report or none, and the successor's
// report is read.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <optional>

#include "llamada/base/crash_point.hpp"
#include "llamada/log/arena_layout.hpp"
#include "llamada/waits/report_area.hpp"
#include "points.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::crash;

namespace {

constexpr std::uint64_t reports = 40;
const std::set<std::string> all_points = {"report:begun", "report:written"};

/// The report of the wait with this number, in one life: each has another length, so that one cannot be taken
/// for the rest of another.
waits::Report report_of(std::uint32_t incarnation, std::uint64_t number) {
  waits::Report report;
  report.incarnation = incarnation;
  report.call_index = number;
  for (std::uint64_t i = 0; i <= number % waits::awaited_max; ++i) {
    waits::Awaited awaited;
    awaited.kind = waits::Kind::receive;
    awaited.peer = static_cast<std::int32_t>(number);
    awaited.name = std::string(number % waits::name_bytes_max, static_cast<char>('a' + number % 26));
    report.add_awaited(awaited);
  }
  return report;
}

/// What a rank and those who read its report share.
class Area {
 public:
  Area()
      : memory_(static_cast<std::byte*>(
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(memory_ != MAP_FAILED);
  }
  ~Area() { ::munmap(memory_, size); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  std::span<std::byte> bytes() { return {memory_, size}; }

 private:
  static constexpr std::size_t size = sizeof(log::ArenaHeader::user);
  std::byte* memory_;
};

/// A process that writes all reports of a life, and dies at that pass of the point; whether it has died.
/// `look` is called as long as it lives.
template <typename Look>
bool live(Area& area, std::uint32_t incarnation, const std::string& point, std::uint64_t count, Look&& look) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (count > 0) arm_crash_point(point, count);
    for (std::uint64_t number = 1; number <= reports; ++number)
      waits::write_report(area.bytes(), report_of(incarnation, number));
    ::_exit(0);
  }
  REQUIRE(child > 0);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) look();
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/// A whole report of one of the lives so far, or none.
void check_whole(Area& area, std::uint32_t incarnation_max) {
  const auto report = waits::read_report(area.bytes());
  if (!report) return;
  const bool is_one = report->incarnation >= 1 && report->incarnation <= incarnation_max &&
                      *report == report_of(report->incarnation, report->call_index);
  if (!is_one) FAIL("a report that nobody has written: call " << report->call_index);
}

}  // namespace

TEST_CASE("crash: the list of the points of a wait report is that of the sources", "[crash]") {
  CHECK(points_in("mpi-facade/waits") == all_points);
}

TEST_CASE("crash: a rank killed at any step of its wait report leaves a whole one or none", "[crash]") {
  for (const std::string& point : all_points)
    for (std::uint64_t count = 1; count <= reports; ++count) {
      INFO("dies at pass " << count << " of " << point);
      Area area;
      REQUIRE(live(area, 1, point, count, [&] { check_whole(area, 1); }));
      // It died between the two versions: what lies there is neither the old report nor the new one.
      CHECK_FALSE(waits::read_report(area.bytes()));
      CHECK(live(area, 2, point, count, [&] { check_whole(area, 2); }));
      CHECK_FALSE(waits::read_report(area.bytes()));
      CHECK_FALSE(live(area, 3, point, 0, [&] { check_whole(area, 3); }));
      const auto last = waits::read_report(area.bytes());
      REQUIRE(last);
      CHECK(*last == report_of(3, reports));
    }
}
