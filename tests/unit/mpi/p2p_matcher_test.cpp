#include "p2p/matcher.hpp"

#include "test.hpp"

using namespace llamada::mpi;

namespace {

ReceiveNode receive(int source, int tag, std::uint32_t context = 1) {
  ReceiveNode node;
  node.context = context;
  node.source = source;
  node.tag = tag;
  return node;
}

MessageNode message(int source, int tag, std::uint64_t ordinal, std::uint32_t context = 1) {
  MessageNode node;
  node.context = context;
  node.source = source;
  node.tag = tag;
  node.ordinal = ordinal;
  return node;
}

void arrive_unexpected(Matcher& matcher, MessageNode& node) {
  REQUIRE(matcher.arrive(node) == nullptr);
  matcher.add_unexpected(node);
}

}  // namespace

TEST_CASE("matching: a message goes to the receive posted first that fits, named or not") {
  Matcher matcher(4);
  ReceiveNode named = receive(2, 7), anybody = receive(any_source, 7), other = receive(any_source, 8);
  REQUIRE_FALSE(matcher.post(other));
  REQUIRE_FALSE(matcher.post(anybody));
  REQUIRE_FALSE(matcher.post(named));
  CHECK(matcher.arrive(message(2, 7, 1)) == &anybody);
  CHECK(matcher.arrive(message(2, 7, 2)) == &named);
  CHECK(matcher.arrive(message(2, 7, 3)) == nullptr);
  CHECK_FALSE(named.queued);
}

TEST_CASE("matching: receives that alone are for a source can be taken from its front") {
  Matcher matcher(4);
  ReceiveNode first = receive(2, 7), second = receive(2, 8), third = receive(2, 9), other = receive(3, 7);
  CHECK(matcher.named_alone(1, 2) == nullptr);  // a context of which nothing is known
  CHECK_FALSE(matcher.will_queue(1));
  REQUIRE_FALSE(matcher.post(other));
  REQUIRE(matcher.will_queue(1));
  CHECK_FALSE(matcher.will_queue(2));
  for (ReceiveNode* node : {&first, &second, &third}) matcher.post_queued(*node);
  CHECK(matcher.posts() == 4);
  CHECK(third.sequence == 4);
  auto* const posted = matcher.named_alone(1, 2);
  REQUIRE(posted);
  CHECK((posted->first == &first && first.next == &second && second.next == &third));
  posted->remove_before(&third);
  first.queued = second.queued = false;
  CHECK(matcher.posted_count() == 2);
  CHECK(matcher.cancel(third));
  CHECK(posted->first == nullptr);
  CHECK(posted->last == nullptr);
  matcher.post_queued(first);
  posted->remove_before(nullptr);
  CHECK(posted->last == nullptr);
  MessageNode early = message(2, 7, 1);
  arrive_unexpected(matcher, early);
  CHECK_FALSE(matcher.will_queue(1));
  ReceiveNode anybody = receive(any_source, 1);
  REQUIRE_FALSE(matcher.post(anybody));
  CHECK(matcher.named_alone(1, 2) == nullptr);
}

TEST_CASE("matching: messages of one source are taken in their order, whatever the tags") {
  Matcher matcher(4);
  MessageNode first = message(1, 5, 1), second = message(1, 6, 2), third = message(1, 5, 3);
  arrive_unexpected(matcher, first);
  arrive_unexpected(matcher, second);
  arrive_unexpected(matcher, third);
  ReceiveNode sixth = receive(1, 6), any = receive(1, any_tag), fifth = receive(any_source, 5);
  CHECK(matcher.post(sixth) == &second);
  CHECK(matcher.post(any) == &first);
  CHECK(matcher.post(fifth) == &third);
  CHECK(matcher.unexpected_count() == 0);
}

TEST_CASE("matching: the short way finds what arrive() would, or nothing") {
  Matcher matcher(4);
  ReceiveNode first = receive(2, 7), second = receive(2, 8), other = receive(3, 7);
  CHECK(matcher.first_posted(1, 2, 7) == nullptr);  // a context of which nothing is known
  REQUIRE_FALSE(matcher.post_free(first));
  REQUIRE_FALSE(matcher.post_free(second));
  REQUIRE_FALSE(matcher.post_free(other));
  CHECK(matcher.first_posted(2, 2, 7) == nullptr);
  CHECK(matcher.first_posted(1, 1, 7) == nullptr);
  CHECK(matcher.first_posted(1, 2, 8) == nullptr);  // behind another: arrive() finds it
  REQUIRE(matcher.first_posted(1, 2, 7) == &first);
  matcher.take_first_posted(first, 2);
  CHECK_FALSE(first.queued);
  CHECK(matcher.first_posted(1, 2, 8) == &second);
  ReceiveNode anybody = receive(any_source, any_tag);
  REQUIRE_FALSE(matcher.post(anybody));
  CHECK(matcher.first_posted(1, 2, 8) == nullptr);  // who was posted first is arrive()'s to say
  CHECK(matcher.arrive(message(2, 8, 1)) == &second);
  CHECK(matcher.arrive(message(3, 7, 1)) == &other);
  CHECK(matcher.arrive(message(3, 7, 2)) == &anybody);
  CHECK(matcher.posted_count() == 0);
}

TEST_CASE("matching: the short way serves wildcards where nobody names the source") {
  Matcher matcher(4);
  ReceiveNode fifth = receive(any_source, 5), any = receive(any_source, any_tag), named = receive(2, 5);
  REQUIRE_FALSE(matcher.post_free(fifth));
  REQUIRE_FALSE(matcher.post_free(any));
  CHECK(matcher.first_posted(1, 3, 6) == nullptr);  // behind another
  REQUIRE(matcher.first_posted(1, 3, 5) == &fifth);
  REQUIRE_FALSE(matcher.post_free(named));
  CHECK(matcher.first_posted(1, 2, 5) == nullptr);  // who was posted first is arrive()'s to say
  REQUIRE(matcher.first_posted(1, 3, 5) == &fifth);
  matcher.take_first_posted(fifth, 3);
  CHECK_FALSE(fifth.queued);
  CHECK(matcher.arrive(message(2, 5, 1)) == &any);
  CHECK(matcher.arrive(message(2, 5, 2)) == &named);
  CHECK(matcher.posted_count() == 0);
  // The next wildcard begins behind the source that the short way took from, as after arrive().
  MessageNode two = message(2, 5, 3), three = message(3, 5, 1);
  REQUIRE_FALSE(matcher.post_free(fifth));
  REQUIRE(matcher.first_posted(1, 2, 5) == &fifth);
  matcher.take_first_posted(fifth, 2);
  arrive_unexpected(matcher, two);
  arrive_unexpected(matcher, three);
  CHECK(matcher.post(any) == &three);
}

TEST_CASE("matching: a wildcard that waits for the end of a replay is not served by the short way") {
  Matcher matcher(2);
  ReceiveNode held = receive(any_source, any_tag);
  held.rule = ReceiveNode::Rule::held;
  REQUIRE_FALSE(matcher.post(held));
  CHECK(matcher.first_posted(1, 1, 5) == nullptr);
}

TEST_CASE("matching: a receive that names its source takes what is here already") {
  Matcher matcher(2);
  MessageNode early = message(1, 5, 1);
  arrive_unexpected(matcher, early);
  ReceiveNode sixth = receive(1, 6), fifth = receive(1, 5);
  CHECK(matcher.post_free(sixth) == nullptr);
  CHECK(matcher.post_free(fifth) == &early);
  CHECK(matcher.unexpected_count() == 0);
  CHECK(matcher.first_posted(1, 1, 6) == &sixth);
}

TEST_CASE("matching: contexts are apart") {
  Matcher matcher(2);
  ReceiveNode node = receive(any_source, any_tag, 1);
  REQUIRE_FALSE(matcher.post(node));
  MessageNode other = message(0, 0, 1, 2);
  arrive_unexpected(matcher, other);
  CHECK(matcher.probe(1, any_source, any_tag) == nullptr);
  CHECK(matcher.probe(2, any_source, any_tag) == &other);
}

TEST_CASE("matching: wildcards take from the sources in turn") {
  Matcher matcher(3);
  std::vector<MessageNode> messages;
  for (int source = 0; source < 3; ++source)
    for (std::uint64_t ordinal = 1; ordinal <= 2; ++ordinal) messages.push_back(message(source, 0, ordinal));
  for (auto& node : messages) arrive_unexpected(matcher, node);
  std::vector<int> order;
  for (int i = 0; i < 6; ++i) {
    ReceiveNode node = receive(any_source, 0);
    order.push_back(matcher.post(node)->source);
  }
  CHECK(order == std::vector<int>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("matching: a wildcard takes what a probe for any source has found, whatever comes in between") {
  Matcher matcher(4);
  MessageNode second = message(2, 7, 1), first = message(1, 7, 1), later = message(3, 7, 1);
  arrive_unexpected(matcher, second);
  CHECK(matcher.probe(1, any_source, 7) == &second);
  arrive_unexpected(matcher, first);
  CHECK(matcher.probe(1, any_source, 7) == &second);
  ReceiveNode anybody = receive(any_source, 7);
  CHECK(matcher.post(anybody) == &second);
  // What was probed in a replay.
  arrive_unexpected(matcher, later);
  matcher.probed(1, 1);
  CHECK(matcher.post(anybody) == &first);
  CHECK(matcher.post(anybody) == &later);
}

TEST_CASE("matching: matched probes for any source take from the sources in turn") {
  Matcher matcher(4);
  MessageNode first = message(1, 7, 1), again = message(1, 7, 2), second = message(2, 7, 1);
  for (MessageNode* node : {&first, &again, &second}) arrive_unexpected(matcher, *node);
  for (MessageNode* node : {&first, &second, &again}) {
    CHECK(matcher.probe(1, any_source, 7) == node);
    matcher.take(*node);
  }
}

TEST_CASE("matching: a cancelled receive takes nothing, one that has matched cannot be cancelled") {
  Matcher matcher(2);
  ReceiveNode node = receive(1, 0), matched = receive(0, 0);
  matcher.post(node);
  matcher.post(matched);
  CHECK(matcher.cancel(node));
  CHECK(matcher.arrive(message(1, 0, 1)) == nullptr);
  CHECK(matcher.arrive(message(0, 0, 1)) == &matched);
  CHECK_FALSE(matcher.cancel(matched));
}

TEST_CASE("matching: a probed message is found by its name and can be taken") {
  Matcher matcher(2);
  MessageNode first = message(1, 3, 1), second = message(1, 4, 2);
  arrive_unexpected(matcher, first);
  arrive_unexpected(matcher, second);
  CHECK(matcher.probe(1, 1, any_tag) == &first);
  CHECK(matcher.probe(1, any_source, 4) == &second);
  CHECK(matcher.find(1, 1, 2) == &second);
  CHECK(matcher.find(1, 1, 3) == nullptr);
  matcher.take(first);
  CHECK(matcher.probe(1, 1, any_tag) == &second);
}

TEST_CASE("matching in a replay: what a held receive would take is kept from all others until it goes live") {
  Matcher matcher(3);
  ReceiveNode held = receive(any_source, 1), named = receive(1, any_tag), other = receive(2, any_tag);
  held.rule = ReceiveNode::Rule::held;
  matcher.post(held);
  matcher.post(named);
  matcher.post(other);
  MessageNode first = message(1, 1, 1), second = message(1, 2, 2);
  arrive_unexpected(matcher, first);
  SECTION("nor do later messages of its source overtake it") {
    arrive_unexpected(matcher, second);
    CHECK(matcher.probe(1, 1, any_tag) == nullptr);
    CHECK(matcher.arrive(message(2, 2, 1)) == &other);
    const auto pairs = matcher.go_live();
    REQUIRE(pairs.size() == 2);
    CHECK(pairs[0] == Matcher::Pair{&held, &first});
    CHECK(pairs[1] == Matcher::Pair{&named, &second});
  }
  SECTION("one that is posted behind the message finds it as little") {
    ReceiveNode late = receive(1, 1);
    CHECK(matcher.post(late) == nullptr);
    const auto pairs = matcher.go_live();
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0] == Matcher::Pair{&held, &first});
    CHECK(matcher.arrive(message(1, 9, 2)) == &named);
    CHECK(matcher.arrive(message(1, 1, 3)) == &late);
  }
}

TEST_CASE("matching in a replay: a held receive leaves alone what is there, and it is parked") {
  Matcher matcher(2);
  MessageNode earlier = message(1, 8, 1), first = message(1, 1, 2);
  arrive_unexpected(matcher, earlier);
  arrive_unexpected(matcher, first);
  ReceiveNode held = receive(any_source, 1);
  held.rule = ReceiveNode::Rule::held;
  CHECK(matcher.post(held) == nullptr);
  CHECK(matcher.probe(1, 1, 1) == nullptr);
  CHECK(matcher.probe(1, 1, 8) == &earlier);
  REQUIRE(matcher.go_live().size() == 1);
}

TEST_CASE("matching in a replay: a receive that is known to be cancelled does not take part") {
  Matcher matcher(2);
  ReceiveNode doomed = receive(1, 1), next = receive(1, 1);
  doomed.rule = ReceiveNode::Rule::cancelled;
  matcher.post(doomed);
  matcher.post(next);
  CHECK(matcher.arrive(message(1, 1, 1)) == &next);
  CHECK(matcher.cancel(doomed));
}

TEST_CASE("matching: sources may come while contexts are in use") {
  Matcher matcher(1);
  ReceiveNode anybody = receive(any_source, any_tag), late = receive(5, 1);
  MessageNode early = message(0, 9, 1), newcomer = message(5, 2, 1);
  arrive_unexpected(matcher, early);
  matcher.grow(6);
  matcher.grow(2);
  REQUIRE_FALSE(matcher.post(late));
  arrive_unexpected(matcher, newcomer);
  CHECK(matcher.post(anybody) != nullptr);
  ReceiveNode again = receive(any_source, any_tag);
  CHECK(matcher.post(again) != nullptr);
  CHECK(matcher.arrive(message(5, 1, 2)) == &late);
}
