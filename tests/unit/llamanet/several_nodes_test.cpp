// Jobs on several nodes: the drivers of the nodes, and applications that reach each other by the book.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "llamada/base/kept_descriptor.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/replication/frame.hpp"
#include "socket.hpp"
#include "two_nodes.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

bool is_readable(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

/// The kernel lets nothing through that does not begin as a frame of the job.
void send_text(replication::Link& link, std::uint32_t to, std::string_view text) {
  const replication::FrameHead head{.job = static_cast<std::uint32_t>(test_job), .to = to};
  const replication::Datagram datagram{std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(text))};
  REQUIRE(link.send(to, std::span(&datagram, 1)) == 1);
}

/// Sleeps until something has come.
std::string receive_text(Application& application, replication::Link& link) {
  for (;;) {
    if (const auto received = link.receive(); !received.empty())
      return {reinterpret_cast<const char*>(received[0].data()) + replication::frame_head_bytes,
              received[0].size() - replication::frame_head_bytes};
    if (!application.bell().sleep([] { return false; })) return "the driver is gone";
  }
}

void meet(Application& application, std::uint32_t slot) {
  const BookEntry& entry = application.book()->entries.at(slot);
  REQUIRE(application.small_link().meet(slot, entry.small));
  REQUIRE(application.bulk_link().meet(slot, entry.bulk));
}

/// A process that is the application of a slot, answers what comes by either link and ends then.
pid_t fork_echo(TwoNodes& job, std::uint32_t slot) {
  job.expect(slot);
  const pid_t child = ::fork();
  if (child != 0) {
    job.start();
    return child;
  }
  auto attached = Application::attach(job.of(slot).options(slot, slot + 1));
  if (!attached || (*attached)->book() == nullptr) ::_exit(9);
  Application& application = **attached;
  meet(application, 0);
  const std::string life = std::to_string(application.incarnation());
  send_text(application.small_link(), 0,
            receive_text(application, application.small_link()) + " small " + life);
  send_text(application.bulk_link(), 0, receive_text(application, application.bulk_link()) + " bulk " + life);
  ::_exit(0);
}

Errc refusal(Node& node, std::uint32_t slot, std::uint64_t token) {
  auto attached = Application::attach(node.options(slot, token));
  REQUIRE_FALSE(attached);
  return attached.error().code();
}

}  // namespace

TEST_CASE("several nodes: a driver has arenas for its own slots, and states for the others", "[llamanet]") {
  TwoNodes job;
  Driver& driver = job.first.driver();
  CHECK(driver.slot_count() == 4);
  for (const std::uint32_t slot : {0U, 2U}) {
    CHECK_FALSE(driver.is_remote(slot));
    CHECK(driver.map(slot));
  }
  for (const std::uint32_t slot : {1U, 3U}) {
    CHECK(driver.is_remote(slot));
    CHECK(driver.state(slot) == SlotState::expected);
    CHECK(driver.incarnation(slot) == 1);
    CHECK(driver.map(slot).error().code() == Errc::not_found);
    CHECK_FALSE(driver.view(slot).ready());
    CHECK_FALSE(driver.view(slot).is_damaged());
    driver.wake(slot);
  }
  CHECK(driver.add_slots(1).error().code() == Errc::unsupported);
}

namespace {

/// Slots 4 on node 0 and 5 on node 1, which both nodes add.
std::vector<std::string> add_two(TwoNodes& job) {
  std::vector<std::string> endpoints;
  for (Node* node : {&job.first, &job.second}) {
    auto added = node->driver().add_slots_of_nodes(std::vector<std::uint32_t>{0, 1});
    REQUIRE(added);
    endpoints.push_back(*added);
  }
  return endpoints;
}

}  // namespace

TEST_CASE("several nodes: added applications are reached by those that were there before", "[llamanet]") {
  TwoNodes job;
  auto zero = job.attach(0);
  job.stop();
  Driver& first = job.first.driver();
  const std::vector<std::string> endpoints = add_two(job);
  CHECK(first.slot_count() == 6);
  CHECK(first.map(4));
  CHECK(first.is_remote(5));
  CHECK(first.state(5) == SlotState::free);  // nobody knows yet where it is
  REQUIRE(first.meet_slots(endpoints));
  REQUIRE(job.second.driver().meet_slots(endpoints));
  CHECK(first.state(5) == SlotState::expected);
  auto five = job.attach(5);
  CHECK(zero->book()->entries.size() == 4);
  REQUIRE(zero->refresh_book());
  REQUIRE(zero->book()->entries.size() == 6);
  CHECK(five->book()->entries == zero->book()->entries);
  meet(*zero, 5);
  meet(*five, 0);
  send_text(zero->small_link(), 5, "to who was added");
  CHECK(receive_text(*five, five->small_link()) == "to who was added");
  send_text(five->bulk_link(), 0, "back");
  CHECK(receive_text(*zero, zero->bulk_link()) == "back");
  job.stop();
  first.set_remote(5, SlotState::finalized, 1);
  CHECK(first.state(5) == SlotState::finalized);
  first.set_remote(5, SlotState::done, 1);
  CHECK(first.state(5) == SlotState::done);
  job.start();
}

TEST_CASE("several nodes: added slots that are dropped stay free, and later ones follow behind them",
          "[llamanet]") {
  TwoNodes job;
  Driver& first = job.first.driver();
  add_two(job);
  first.drop_slots(4, 2);
  for (const std::uint32_t slot : {4U, 5U}) CHECK(first.state(slot) == SlotState::free);
  CHECK(first.map(4).error().code() == Errc::not_found);
  // No room for more: the numbers stay.
  CHECK(first.add_slots_of_nodes(std::vector<std::uint32_t>{0}).error().code() == Errc::out_of_resources);
  CHECK(first.slot_count() == 6);
}

TEST_CASE("several nodes: what is not the endpoints of added slots is refused, and the book stays",
          "[llamanet]") {
  TwoNodes job;
  Driver& first = job.first.driver();
  const auto endpoints = add_two(job);
  const auto refused = [&](std::vector<std::string> wrong) {
    return first.meet_slots(wrong).error().code() == Errc::parse_error;
  };
  CHECK(refused({endpoints[1], endpoints[0]}));
  CHECK(refused({endpoints[0], endpoints[1].substr(1)}));
  CHECK(refused({first.endpoints(), endpoints[1]}));  // known
  CHECK(first.state(5) == SlotState::free);
  REQUIRE(first.meet_slots(endpoints));
  CHECK(refused(endpoints));
  Node alone({}, 1);
  CHECK(alone.driver().add_slots_of_nodes(std::vector<std::uint32_t>{0}).error().code() ==
        Errc::invalid_argument);
  CHECK(alone.driver().meet_slots(endpoints).error().code() == Errc::invalid_argument);
}

TEST_CASE("several nodes: only the own slots may be attached to, and not before the nodes have met",
          "[llamanet]") {
  Node node(options_of_node(0, {0, 1}), 2);
  node.driver().expect(0, 5, 1);
  node.start();
  CHECK(refusal(node, 1, 0) == Errc::invalid_argument);
  CHECK(refusal(node, 0, 5) == Errc::not_found);
  node.stop();
  Node other(options_of_node(1, {0, 1}), 2);
  REQUIRE(node.driver().meet_nodes(std::vector{node.driver().endpoints(), other.driver().endpoints()}));
  node.start();
  CHECK(refusal(node, 1, 0) == Errc::invalid_argument);
  CHECK(Application::attach(node.options(0, 5)));
}

TEST_CASE("several nodes: what is not the endpoints of all nodes is refused", "[llamanet]") {
  Node first(options_of_node(0, {0, 1}), 2), second(options_of_node(1, {0, 1}), 2);
  const std::string own = first.driver().endpoints(), others = second.driver().endpoints();
  const auto code = [&](std::vector<std::string> endpoints) {
    const Status met = first.driver().meet_nodes(endpoints);
    return met ? Errc{} : met.error().code();
  };
  CHECK(code({}) == Errc::parse_error);
  CHECK(code({own}) == Errc::parse_error);
  CHECK(code({others, own}) == Errc::parse_error);
  CHECK(code({own, own}) == Errc::parse_error);
  CHECK(code({own, others.substr(1)}) == Errc::parse_error);
  CHECK(code({own, others, {}}) == Errc::parse_error);
  CHECK(code({own, others}) == Errc{});
  CHECK(code({own, others}) == Errc::already_exists);
  Node alone({}, 1);
  CHECK(alone.driver().endpoints().empty());
  CHECK(alone.driver().meet_nodes(std::vector{own}).error().code() == Errc::invalid_argument);
}

TEST_CASE("several nodes: an address that is none of this host is refused with a sentence", "[llamanet]") {
  const auto refused = [](std::string address) {
    DriverOptions options = options_of_node(0, {0});
    options.name = unique_name();
    options.nodes->address = std::move(address);
    auto driver = Driver::open(options);
    REQUIRE_FALSE(driver);
    return driver.error().text();
  };
  CHECK(refused("somewhere").find("'somewhere'") != std::string::npos);
  CHECK(refused("0.0.0.0").find("0.0.0.0") != std::string::npos);
  CHECK(refused("203.0.113.77").find("203.0.113.77, the address of node 0") != std::string::npos);
}

TEST_CASE("several nodes: an application finds the arenas of its node only, and nothing elsewhere",
          "[llamanet]") {
  TwoNodes job;
  auto application = job.attach(2);
  Roster& roster = application->roster();
  CHECK(roster.slot_count() == 4);
  CHECK(roster.peer(0).base != nullptr);
  CHECK(roster.is_local(0));
  for (const std::uint32_t slot : {1U, 3U}) {
    CHECK_FALSE(roster.is_local(slot));
    CHECK(roster.slot_state(slot) == SlotState::expected);
    CHECK(roster.incarnation(slot) == 1);
    REQUIRE(roster.meet(slot));
    REQUIRE(roster.part(slot));
    CHECK(roster.peer(slot).base == nullptr);
    application->wake(slot);
  }
  application->wake_all();
  CHECK(roster.may_keep(std::uint64_t{1} << 40));

  auto inspector = Inspector::open(job.first.socket_name());
  REQUIRE(inspector);
  CHECK(inspector->slots().size() == 3);  // nobody is expected in slot 0
  for (const auto& slot : inspector->slots()) {
    const bool is_here = slot.index % 2 == 0;
    CHECK((slot.arena != nullptr) == is_here);
    CHECK(slot.other_node == (is_here ? std::nullopt : std::optional<std::uint32_t>(1)));
  }
  REQUIRE(inspector->refresh());
}

TEST_CASE("several nodes: the book says where everybody is, and the links are there", "[llamanet]") {
  TwoNodes job;
  auto zero = job.attach(0);
  auto one = job.attach(1);
  for (const auto* application : {&zero, &one}) {
    const NodeBook* book = (*application)->book();
    REQUIRE(book != nullptr);
    CHECK(book->own_node == (*application)->slot());
    CHECK(book->job_number == test_job);
    CHECK((book->key.low == test_key.low && book->key.high == test_key.high));
    REQUIRE(book->entries.size() == 4);
    for (std::uint32_t slot = 0; slot < 4; ++slot) CHECK(book->entries[slot].node == slot % 2);
  }
  CHECK(zero->book()->entries == one->book()->entries);
  const std::vector<BookNode>& nodes = zero->book()->nodes;
  REQUIRE(nodes.size() == 2);
  CHECK(nodes == one->book()->nodes);
  CHECK(nodes[0].machine == nodes[1].machine);
  CHECK(nodes[0].machine != 0);
  CHECK(nodes[0].small.port != nodes[1].small.port);
  meet(*zero, 1);
  send_text(zero->small_link(), 1, "small");
  send_text(zero->bulk_link(), 1, "bulk");
  CHECK(receive_text(*one, one->small_link()) == "small");
  CHECK(receive_text(*one, one->bulk_link()) == "bulk");
}

TEST_CASE("several nodes: on one node there is no book, and an attach is what it was", "[llamanet]") {
  Node node({}, 1);
  node.driver().expect(0, 5, 1);
  node.start();
  auto socket = connect_to(node.socket_name());
  REQUIRE(socket);
  REQUIRE(send_datagram(socket->get(), encode({1, Attach{1, 0, 5, ""}})));
  auto datagram = receive_datagram(socket->get(), true, 253);
  REQUIRE(datagram);
  CHECK(datagram->descriptors.size() == 3);
  auto answer = decode(datagram->bytes);
  REQUIRE(answer);
  CHECK(std::get<Attached>(answer->message).flags == 0);
  node.stop();
  Node other({}, 1);
  other.driver().expect(0, 5, 1);
  other.start();
  auto application = Application::attach(other.options(0, 5));
  REQUIRE(application);
  CHECK((*application)->book() == nullptr);
}

TEST_CASE("several nodes: a sleep ends when either link has something, and at its limit", "[llamanet]") {
  TwoNodes job;
  auto zero = job.attach(0);
  auto one = job.attach(1);
  meet(*zero, 1);
  using namespace std::chrono_literals;
  const auto nothing = [] { return false; };
  for (replication::Link* link : {&one->small_link(), &one->bulk_link()}) {
    while (is_readable(one->bell().event())) REQUIRE(one->bell().sleep(nothing, 1ms));
    REQUIRE(one->bell().sleep(nothing, 1ms));  // nobody does anything: only the limit ends it
    CHECK_FALSE(is_readable(link->descriptor()));
    send_text(link == &one->small_link() ? zero->small_link() : zero->bulk_link(), 1, "now");
    while (!is_readable(link->descriptor())) REQUIRE(one->bell().sleep(nothing));
    CHECK(receive_text(*one, *link) == "now");
  }
}

TEST_CASE("several nodes: the links' descriptors are out of the program's way, and their loss is seen",
          "[llamanet]") {
  TwoNodes job;
  auto zero = job.attach(0);
  CHECK(is_kept(zero->small_link().descriptor()));
  CHECK(is_kept(zero->bulk_link().descriptor()));
  CHECK(zero->closed_descriptor() == -1);
  const int number = zero->bulk_link().descriptor();
  REQUIRE(make_room_at(number));
  CHECK(zero->bulk_link().descriptor() != number);
  CHECK(zero->closed_descriptor() == -1);
  ::close(number);
  const int now = zero->bulk_link().descriptor();
  ::close(now);
  CHECK(zero->closed_descriptor() == now);
  zero->leave_silently();
}

TEST_CASE("several nodes: what becomes of an application elsewhere is seen, and all are awake",
          "[llamanet]") {
  TwoNodes job;
  auto zero = job.attach(0);
  const auto& roster = zero->roster();
  const auto set = [&](SlotState state, std::uint32_t incarnation) {
    job.stop();
    REQUIRE(zero->bell().sleep([] { return false; }, std::chrono::nanoseconds(0)));
    CHECK_FALSE(is_readable(zero->bell().event()));
    const std::uint64_t generation = roster.generation();
    job.first.driver().set_remote(1, state, incarnation);
    CHECK(roster.generation() == generation + 1);
    CHECK(is_readable(zero->bell().event()));
    CHECK(roster.slot_state(1) == state);
    CHECK(roster.incarnation(1) == incarnation);
    job.start();
    REQUIRE(zero->roster().refresh());
    CHECK(roster.peer(1).base == nullptr);
  };
  set(SlotState::attached, 1);
  set(SlotState::dead, 1);
  CHECK(roster.page_slot(1).deaths == 1);
  set(SlotState::attached, 2);
  job.stop();
  job.first.driver().set_remote(1, SlotState::dead, 1);  // late news
  CHECK((roster.slot_state(1) == SlotState::attached && roster.incarnation(1) == 2));
  set(SlotState::done, 2);
  job.stop();
  job.first.driver().set_remote(1, SlotState::dead, 3);
  CHECK((roster.slot_state(1) == SlotState::done && roster.incarnation(1) == 2));
  CHECK(roster.slot_state(3) == SlotState::expected);
}

TEST_CASE("several nodes: an application elsewhere is lost, and then its node, which nothing follows",
          "[llamanet]") {
  TwoNodes job;
  auto zero = job.attach(0);
  const auto& roster = zero->roster();
  job.stop();
  auto& driver = job.first.driver();
  driver.mark_lost(1);
  CHECK(roster.slot_state(1) == SlotState::lost);
  driver.set_remote(1, SlotState::done, 1);
  CHECK(roster.slot_state(1) == SlotState::lost);
  const std::uint64_t generation = roster.generation();
  driver.mark_lost(1, true);
  CHECK(roster.slot_state(1) == SlotState::lost_with_node);
  CHECK(roster.generation() == generation + 1);
  driver.mark_lost(1);
  driver.set_remote(1, SlotState::dead, 1);
  CHECK(roster.slot_state(1) == SlotState::lost_with_node);
  CHECK(roster.generation() == generation + 1);
  // Also one that had ended well: its driver is asked no more.
  driver.set_remote(3, SlotState::done, 1);
  driver.mark_lost(3, true);
  CHECK(roster.slot_state(3) == SlotState::lost_with_node);
  job.start();
}

TEST_CASE(
    "several nodes: processes answer each other by both links, and a successor receives where its "
    "predecessor did",
    "[llamanet]") {
  TwoNodes job;
  auto zero = job.attach(0);
  meet(*zero, 1);
  const auto talk = [&](std::string_view text, const std::string& life) {
    send_text(zero->small_link(), 1, text);
    send_text(zero->bulk_link(), 1, text);
    CHECK(receive_text(*zero, zero->small_link()) == std::string(text) + " small " + life);
    CHECK(receive_text(*zero, zero->bulk_link()) == std::string(text) + " bulk " + life);
  };
  pid_t child = fork_echo(job, 1);
  talk("first", "1");
  ::waitpid(child, nullptr, 0);
  job.second.stop();
  job.second.poll_until([&] { return job.second.driver().state(1) == SlotState::dead; });
  // What is sent to one who is dead waits in the socket.
  send_text(zero->small_link(), 1, "early");
  child = fork_echo(job, 1);
  CHECK(receive_text(*zero, zero->small_link()) == "early small 2");
  send_text(zero->bulk_link(), 1, "late");
  CHECK(receive_text(*zero, zero->bulk_link()) == "late bulk 2");
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE(
    "several nodes: arenas come in their places when own slots and others alternate over several "
    "messages",
    "[llamanet]") {
  constexpr std::uint32_t count = 130;
  std::vector<std::uint32_t> of_slot;
  for (std::uint32_t slot = 0; slot < count; ++slot) of_slot.push_back(slot % 3 == 0 ? 0 : 1);
  Node first(options_of_node(0, of_slot), count), second(options_of_node(1, of_slot), count);
  REQUIRE(first.driver().meet_nodes(std::vector{first.driver().endpoints(), second.driver().endpoints()}));
  second.end_driver();
  first.driver().expect(0, 5, 1);
  first.start();
  auto application = Application::attach(first.options(0, 5));
  REQUIRE(application);
  for (std::uint32_t slot = 0; slot < count; ++slot)
    CHECK(((*application)->roster().peer(slot).base != nullptr) == (slot % 3 == 0));
  CHECK((*application)->book()->entries.size() == count);
}
