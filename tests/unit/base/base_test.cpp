#include <cstring>
#include <string_view>

#include "llamada/base/clock.hpp"
#include "llamada/base/crc32c.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/kept_descriptor.hpp"
#include "llamada/base/random.hpp"
#include "llamada/base/result.hpp"
#include "llamada/base/rounding.hpp"
#include "test.hpp"

using namespace llamada;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Result<int> half(int value) {
  if (value % 2 != 0) return failure(Errc::invalid_argument, "{} is odd", value);
  return value / 2;
}

}  // namespace

TEST_CASE("result: carries a value or a code with a sentence", "[base]") {
  CHECK(half(4).value() == 2);
  auto odd = half(3);
  REQUIRE_FALSE(odd);
  CHECK(odd.error().code() == Errc::invalid_argument);
  CHECK(odd.error().within("half").text() == "half: 3 is odd");
  CHECK(to_string(odd.error().code()) == "invalid_argument");
}

TEST_CASE("result: a system failure keeps errno and says it in words", "[base]") {
  Status status = system_failure("open /nowhere", ENOENT);
  CHECK(status.error().system_errno() == ENOENT);
  CHECK(status.error().text() == "open /nowhere: No such file or directory");
}

TEST_CASE("crc32c: gives the published check value, in one go and in parts", "[base]") {
  CHECK(crc32c(bytes_of("123456789")) == 0xe3069283);
  CHECK(crc32c(bytes_of("56789"), crc32c(bytes_of("1234"))) == 0xe3069283);
  CHECK(crc32c({}) == 0);
}

TEST_CASE("random: the same seed gives the same numbers, another seed others", "[base]") {
  Random one(7), same(7), other(8);
  auto first = one.next();
  CHECK(first == same.next());
  CHECK(first != other.next());
  for (int i = 0; i < 1000; ++i) CHECK(one.below(3) < 3);
}

TEST_CASE("clock: both clocks at one moment are what each of them says", "[base]") {
  using namespace std::chrono_literals;
  SystemClock clock;
  const auto start = clock.monotonic();
  auto latest = start - 2us;
  while (clock.monotonic() - start < 200ms) {
    const auto monotonic = clock.monotonic();
    const auto realtime = clock.realtime();
    const auto both = clock.both();
    REQUIRE(both.monotonic >= latest);
    REQUIRE(both.monotonic + 2us >= monotonic);
    REQUIRE(both.monotonic <= clock.monotonic() + 2us);
    REQUIRE(both.realtime + 2us >= realtime);
    REQUIRE(both.realtime <= clock.realtime() + 2us);
    latest = both.monotonic;
  }
}

TEST_CASE("clock: monotonic time does not go back", "[base]") {
  SystemClock clock;
  auto before = clock.monotonic();
  CHECK(clock.monotonic() >= before);
  CHECK(clock.realtime() > std::chrono::hours(24 * 365 * 50));
}

TEST_CASE("file descriptor: closes what it owns, once", "[base]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  FileDescriptor reader(ends[0]);
  {
    FileDescriptor writer(ends[1]);
    FileDescriptor moved(std::move(writer));
    CHECK_FALSE(writer);
    CHECK(moved.get() == ends[1]);
  }
  char byte;
  CHECK(::read(reader.get(), &byte, 1) == 0);  // end of file: the writing end is closed
}

TEST_CASE("kept descriptor: makes room at its number, and is closed at its end", "[base]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  FileDescriptor reader(ends[0]);
  int last = -1;
  {
    KeptDescriptor kept{FileDescriptor(ends[1])};
    REQUIRE(kept);
    const int first = kept.get();
    CHECK(is_kept(first));
    CHECK_FALSE(is_kept(reader.get()));
    CHECK(next_kept(0) == first);
    REQUIRE(make_room_at(first));
    last = kept.get();
    CHECK(last != first);
    CHECK((is_kept(last) && !is_kept(first)));
    FileDescriptor old(first);  // as the program's dup2 would replace it
    KeptDescriptor moved(std::move(kept));
    CHECK(moved.get() == last);
    CHECK(::write(moved.get(), "x", 1) == 1);
  }
  CHECK_FALSE(is_kept(last));
  CHECK(next_kept(0) == -1);
  char byte;
  CHECK(::read(reader.get(), &byte, 1) == 1);
  CHECK(::read(reader.get(), &byte, 1) == 0);
}

TEST_CASE("rounding: pieces that hold a value, and the multiple of a unit that does", "[base]") {
  CHECK(divided_up(0, 64) == 0);
  CHECK(divided_up(1, 64) == 1);
  CHECK(divided_up(64, 64) == 1);
  CHECK(divided_up(65, 64) == 2);
  CHECK(rounded_up(0, 64) == 0);
  CHECK(rounded_up(1, 64) == 64);
  CHECK(rounded_up(64, 64) == 64);
  CHECK(rounded_up(std::uint64_t{65}, 64) == 128);
}
