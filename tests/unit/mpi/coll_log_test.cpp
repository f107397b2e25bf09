#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "coll/fitting.hpp"
#include "coll/own_log.hpp"
#include "coll/record.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

// The parts of a collective channel, each by itself: records, the own log with its replay, and calls that do
// not fit.

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::coll;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A record as a reader gives it.
log::Record record(const RecordHead& head, std::span<const std::byte> payload = {},
                   std::span<const std::byte> extra = {}) {
  log::Record made;
  made.kind = head.record_kind();
  made.flags = head.flags();
  made.label = head.label();
  made.payload = payload;
  made.extra = extra;
  return made;
}

/// Publishes, or compares in a replay: then gives how it differs.
std::string publish(OwnLog& own, const RecordHead& head, const std::string& text) {
  if (own.try_publish(head, bytes_of(text))) return {};
  const auto room = own.room(text.size(), log::LogWriter::Filling::in_place, 0,
                             [](const Error& error) { FAIL(error.text()); });
  REQUIRE(room);
  std::memcpy(room->data(), text.data(), text.size());
  if (!own.is_reserved()) return own.compare(head);
  own.commit(head, text.size());
  return {};
}

RecordHead head(std::uint32_t ordinal, Piece piece = {}, int audience = everybody, Kind kind = Kind::gather) {
  return {kind, ordinal, piece, audience};
}

/// A rank with a log for each of two audiences, in one arena.
struct TwoLogs {
  std::unique_ptr<World> world;
  OwnLog first, second;

  explicit TwoLogs(InProcessJob& job) {
    auto attached = job.attach(0);
    REQUIRE(attached);
    world = std::move(*attached);
    open(first, 0);
    open(second, 1);
  }
  void open(OwnLog& own, std::uint32_t persistent) const {
    OwnLog::Options options;
    options.key = collective_log_key(7, persistent);
    options.reader_count = 1;
    options.keep_all = true;
    options.bound_bytes = 1 << 20;
    REQUIRE(own.open(world->arena(), options));
  }
};

std::unique_ptr<InProcessJob> one_rank() {
  auto job = InProcessJob::create({});
  REQUIRE(job);
  return std::move(*job);
}

}  // namespace

TEST_CASE("collective record: content and number of a piece are apart", "[mpi][coll]") {
  const Piece last(Content::data, Piece::number_max);
  CHECK(last.content() == Content::data);
  CHECK(last.number() == Piece::number_max);
  CHECK(Piece(Content::segment, 3).next() == Piece(Content::segment, 4));
  CHECK(Piece(Content::loan) != Piece(Content::card));
  CHECK(to_string(Piece(Content::segment, 3)) == "segment's piece 3");
}

TEST_CASE("collective record: its head is read as it was written", "[mpi][coll]") {
  const RecordHead written = head(0xfffffffe, {Content::step, 9}, 65000, Kind::context);
  const auto stored = record(written);
  const RecordHead read = RecordHead::of(stored);
  CHECK(read.kind == Kind::context);
  CHECK(read.ordinal == 0xfffffffe);
  CHECK(read.piece == Piece(Content::step, 9));
  CHECK(read.audience == 65000);
  CHECK(written.is_of(stored));
  CHECK_FALSE(head(0xfffffffe, {Content::step, 9}, everybody, Kind::context).is_of(stored));
  CHECK(is_for(stored, 65000));
  CHECK_FALSE(is_for(stored, 64999));
  CHECK(is_for(record(head(1)), 5));
  CHECK(age(3, 0xfffffffe) == 5);
}

TEST_CASE("collective record: it says of how many bytes it is a piece", "[mpi][coll]") {
  const std::string payload(64, 'x');
  std::byte extra[log::extra_bytes_max] = {};
  std::uint64_t all = 1000;
  std::memcpy(extra, &all, sizeof(all));
  CHECK(bytes_given(record(head(1), bytes_of(payload).first(8)), 0) == 8);
  CHECK(bytes_given(record(head(1), bytes_of(payload), extra), 0) == 1000);
  CHECK(is_of(record(head(1), bytes_of(payload), extra), 1000));
  CHECK_FALSE(is_of(record(head(1), bytes_of(payload), extra), 64));
  const Loan loan{4096, 0, {}};
  const auto lent = record(head(1, Content::loan), std::as_bytes(std::span(&loan, 1)));
  CHECK(is_loan(lent));
  CHECK(bytes_given(lent, 0) == 4096);
  // A card of the same length is none, nor is a loan that is too short.
  CHECK_FALSE(is_loan(record(head(1, Content::card), lent.payload)));
  CHECK_FALSE(is_loan(record(head(1, Content::loan), lent.payload.first(8))));
}

TEST_CASE("collective record: parts together have a table that may be wrong", "[mpi][coll]") {
  const std::uint32_t table[] = {16, 16, 20, 99, 0x64636261};
  const auto together = record(head(1, Content::together), std::as_bytes(std::span(table)));
  const auto part = part_in(together, 1);
  REQUIRE(part);
  CHECK(part->size() == 4);
  CHECK(static_cast<char>(part->front()) == 'a');
  CHECK(bytes_given(together, 1) == 4);
  CHECK_FALSE(part_in(together, 2));  // It would end behind the record.
  CHECK_FALSE(part_in(together, 4));
  CHECK(bytes_given(together, 4) == 0);
}

TEST_CASE("own log: a successor compares what its predecessor published, log by log", "[mpi][coll]") {
  const auto job = one_rank();
  const std::string large(100, 'l');
  {
    TwoLogs rank(*job);
    CHECK(publish(rank.first, head(1), "one") == "");
    CHECK(publish(rank.second, head(1, {}, 3), "alone") == "");
    CHECK(publish(rank.first, head(2, Content::segment), large) == "");
  }
  TwoLogs rank(*job);
  CHECK_FALSE(rank.first.try_publish(head(1), bytes_of("one")));
  CHECK(publish(rank.first, head(1), "one") == "");
  REQUIRE(rank.first.left_over());
  CHECK(ordinal_of(*rank.first.left_over()) == 2);
  CHECK(publish(rank.first, head(2, Content::segment), large) == "");
  CHECK_FALSE(rank.first.left_over());
  // The other log's replay is its own.
  REQUIRE(rank.second.left_over());
  CHECK(publish(rank.second, head(1, {}, 3), "alone") == "");
  // Now it goes on.
  CHECK(publish(rank.first, head(3), "new") == "");
  CHECK(rank.first.try_publish(head(4), bytes_of("newer")));
}

TEST_CASE("own log: a successor that publishes something else is told what", "[mpi][coll]") {
  const auto job = one_rank();
  {
    TwoLogs rank(*job);
    CHECK(publish(rank.first, head(1, {Content::segment, 2}, 1), "abc") == "");
  }
  const auto difference = [&](const RecordHead& now, const std::string& text) {
    TwoLogs rank(*job);
    return publish(rank.first, now, text);
  };
  CHECK(difference(head(1, {Content::segment, 2}, 1), "abd") ==
        "what this run contributes to Gather number 1, segment's piece 2 for member 1, 3 bytes differs from "
        "the first "
        "run at byte 2");
  // Only the content differs.
  CHECK(difference(head(1, {Content::data, 2}, 1), "abc") ==
        "the first run contributed to Gather number 1, segment's piece 2 for member 1, 3 bytes; this run to "
        "Gather "
        "number 1, piece 2 for member 1, 3 bytes");
  CHECK(difference(head(1, {Content::segment, 2}), "abc").find("for everybody, 3 bytes") !=
        std::string::npos);
  CHECK(difference(head(1, {Content::segment, 2}, 1), "abcd").find("4 bytes") != std::string::npos);
  CHECK(difference(head(1, {Content::segment, 2}, 1), "abc") == "");
}

TEST_CASE("own log: without readers it takes all and keeps nothing", "[mpi][coll]") {
  OwnLog own;
  CHECK_FALSE(own.try_publish(head(1), bytes_of("x")));
  CHECK(publish(own, head(1), "x") == "");
  CHECK_FALSE(own.left_over());
}

TEST_CASE("fitting: a misfit of counts is outlived, one of calls is not", "[mpi][coll]") {
  Fitting counts;
  counts.fail_misfit(3, "longer", true);
  CHECK(counts.failed());
  CHECK(counts.is_too_long());
  counts.outlive_misfit();
  counts.forget_misfit();
  CHECK_FALSE(counts.failed());
  CHECK(counts.ever_failed());
  // Its records may be left over, those of the next one may not.
  CHECK(counts.excuses(3));
  CHECK_FALSE(counts.excuses(4));

  Fitting calls;
  calls.fail(3, "another collective");
  calls.fail_misfit(3, "later", true);
  calls.outlive_misfit();
  calls.forget_misfit();
  CHECK(calls.failure() == "another collective");
}

TEST_CASE("fitting: a complaint becomes the failure when the collective is over", "[mpi][coll]") {
  Fitting fitting;
  fitting.complain("too long", true);
  fitting.complain("second", false);
  CHECK_FALSE(fitting.failed());
  CHECK_FALSE(fitting.is_well());
  fitting.end(5);
  CHECK(fitting.failure() == "too long");
  CHECK(fitting.is_too_long());
  fitting.forget_misfit();
  CHECK(fitting.is_well());
}
