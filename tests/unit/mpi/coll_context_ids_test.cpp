#include "coll/context_ids.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi::coll;

TEST_CASE("context ids: who makes one communicator at a time takes the highest common id") {
  ContextIds a(0), b(1);
  for (std::uint32_t i = 0; i < 3; ++i) {
    ContextClaim of_a(a), of_b(b);
    const auto all = of_a.proposal().with(of_b.proposal());
    CHECK(*of_a.settle(all) == ContextIds::first_free_context + 2 * i);
    CHECK(*of_b.settle(all) == ContextIds::first_free_context + 2 * i);
  }
  // c has seen none of these; what it makes with a is above what a has seen.
  ContextIds c(2);
  ContextClaim of_a(a), of_c(c);
  const auto all = of_a.proposal().with(of_c.proposal());
  CHECK(*of_a.settle(all) == ContextIds::first_free_context + 6);
  CHECK(*of_c.settle(all) == ContextIds::first_free_context + 6);
}

TEST_CASE("context ids: two that are agreed on in different orders by the same processes differ") {
  ContextIds a(0), b(1);
  ContextClaim a1(a), a2(a), b2(b), b1(b);
  const auto first = a1.proposal().with(b1.proposal()), second = a2.proposal().with(b2.proposal());
  const auto one = a1.settle(first), two = a2.settle(second);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(*one != *two);
  CHECK(*one != *two + 1);
  CHECK(*two != *one + 1);
  CHECK(*b1.settle(first) == *one);
  CHECK(*b2.settle(second) == *two);
}

TEST_CASE("context ids: an own id that was not taken is proposed again, one that was never is") {
  ContextIds a(5);
  std::uint32_t own = 0;
  {
    ContextClaim claim(a);
    own = claim.proposal().own;
    CHECK(own >= ContextIds::first_own_context);
    CHECK(*claim.settle(claim.proposal()) != own);
  }
  ContextClaim first(a);
  CHECK(first.proposal().own == own);
  ContextClaim second(a);
  CHECK(second.proposal().common == 0);
  CHECK(*second.settle(second.proposal()) == second.proposal().own);
  const auto taken = second.proposal().own;
  ContextClaim third(a);
  CHECK(third.proposal().own != taken);
  CHECK(third.proposal().own != own);
}

TEST_CASE("context ids: a claim that goes on holds the common ids back") {
  ContextIds a(0);
  ContextClaim pending(a);
  CHECK(pending.agree(pending.proposal()));
  {
    ContextClaim meanwhile(a);
    CHECK(meanwhile.proposal().common == 0);
  }
  pending.end();
  ContextClaim later(a);
  CHECK(later.proposal().common == ContextIds::first_free_context + 2);
}

TEST_CASE("context ids: those of a process end, and that is said") {
  ContextIds a(0);
  ContextClaim holder(a);
  for (std::uint32_t i = 0; i + 1 < 1u << (ContextIds::own_bits - 1); ++i) {
    ContextClaim claim(a);
    if (!claim.settle(claim.proposal())) FAIL("ended at " << i);
  }
  ContextClaim last(a);
  CHECK(last.proposal().own == 0);
  const auto settled = last.settle(last.proposal());
  REQUIRE_FALSE(settled);
  CHECK(settled.error().code() == Errc::out_of_resources);
}
