#include "job_shared.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;
using Kind = SharedQuestion::Kind;

namespace {

SharedQuestion about_name(Kind kind, const std::string& name, const std::string& value = {},
                          bool is_port = false) {
  SharedQuestion question;
  question.kind = kind;
  question.name = name;
  question.value = value;
  question.is_port = is_port;
  return question;
}

SharedQuestion about_number(Kind kind, std::uint64_t number, std::uint64_t operation,
                            std::uint64_t operand = 0) {
  SharedQuestion question;
  question.kind = kind;
  question.number_name = number;
  question.operation = operation;
  question.operand = operand;
  return question;
}

}  // namespace

TEST_CASE("job shared: a name that one rank publishes is found by another until it is withdrawn",
          "[launcher]") {
  JobShared shared;
  const SharedAnswer none = shared.answer(1, about_name(Kind::look_up, "a"));
  CHECK((!none.done && none.is_about_name && none.code == Errc::not_found));
  CHECK(shared.answer(1, about_name(Kind::publish, "a", "here")).done);
  CHECK(shared.answer(2, about_name(Kind::look_up, "a")).value == "here");
  CHECK(shared.answer(2, about_name(Kind::publish, "a", "there")).code == Errc::already_exists);
  CHECK_FALSE(shared.answer(2, about_name(Kind::look_up, "a", {}, true)).done);  // no port of that name
  CHECK(shared.answer(2, about_name(Kind::withdraw, "a")).done);
  CHECK_FALSE(shared.answer(2, about_name(Kind::withdraw, "a")).done);
}

TEST_CASE("job shared: ports go with their rank, services stay", "[launcher]") {
  JobShared shared;
  CHECK(shared.answer(1, about_name(Kind::publish, "port", {}, true)).done);
  CHECK(shared.answer(1, about_name(Kind::publish, "service", "port")).done);
  shared.rank_ended(1);
  CHECK_FALSE(shared.answer(2, about_name(Kind::look_up, "port", {}, true)).done);
  CHECK(shared.answer(2, about_name(Kind::look_up, "service")).done);
}

TEST_CASE("job shared: a number moves once for each operation", "[launcher]") {
  JobShared shared;
  CHECK(shared.answer(1, about_number(Kind::add, 7, 1, 10)).before == 0);
  CHECK(shared.answer(2, about_number(Kind::add, 7, 1, 5)).before == 10);
  CHECK(shared.answer(1, about_number(Kind::add, 7, 1, 10)).before == 0);  // once more
  CHECK(shared.answer(3, about_number(Kind::read, 7, 0)).before == 15);
  CHECK(shared.answer(2, about_number(Kind::set, 7, 2, 3)).before == 15);
  CHECK(shared.answer(2, about_number(Kind::set, 7, 2, 3)).before == 15);
  CHECK(shared.answer(1, about_number(Kind::read, 7, 0)).before == 3);
  CHECK(shared.answer(1, about_number(Kind::read, 8, 0)).before == 0);  // another one
}

TEST_CASE("job shared: a number begins anew when all have let go of it, or are done", "[launcher]") {
  JobShared shared;
  for (const std::uint32_t slot : {1U, 2U, 3U})
    CHECK(shared.answer(slot, about_number(Kind::add, 7, 1, 10)).done);
  CHECK(shared.answer(1, about_number(Kind::release, 7, 0)).done);
  CHECK(shared.answer(1, about_number(Kind::release, 7, 0)).done);
  shared.rank_ended(2);  // its replacement may come
  CHECK(shared.answer(3, about_number(Kind::release, 7, 0)).done);
  CHECK(shared.answer(2, about_number(Kind::read, 7, 0)).before == 30);
  shared.rank_done(2);
  CHECK(shared.answer(1, about_number(Kind::read, 7, 0)).before == 0);
  CHECK(shared.answer(1, about_number(Kind::release, 9, 0)).done);  // never named
}

TEST_CASE("job shared: there is an end to the numbers", "[launcher]") {
  JobShared shared;
  for (std::uint64_t number = 0; number < JobShared::numbers_max; ++number)
    REQUIRE(shared.answer(1, about_number(Kind::add, number, 1, 1)).done);
  CHECK(shared.answer(1, about_number(Kind::read, JobShared::numbers_max, 0)).code == Errc::out_of_resources);
  CHECK(shared.answer(2, about_number(Kind::add, 5, 1, 1)).before == 1);
}

TEST_CASE("job shared: a rank that goes on from a cut has the place that it had in the order", "[launcher]") {
  JobShared shared;
  CHECK(shared.answer(1, about_number(Kind::add, 7, 1, 10)).before == 0);
  CHECK(shared.answer(2, about_number(Kind::add, 7, 1, 5)).before == 10);
  JobShared later;
  later.restore(shared.numbers());
  CHECK(shared.answer(3, about_number(Kind::add, 7, 1, 1)).before == 15);  // behind the cut
  // Rank 1 has not recorded its answer, and asks again, after others have asked for something new.
  CHECK(later.answer(3, about_number(Kind::add, 7, 1, 2)).before == 15);
  CHECK(later.answer(1, about_number(Kind::add, 7, 1, 10)).before == 0);
  CHECK(later.answer(1, about_number(Kind::add, 7, 2, 10)).before == 17);
}
