#include "llamada/llamanet/driver.hpp"

#include <sys/wait.h>

#include <filesystem>
#include <iterator>

#include "node.hpp"
#include "socket.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

// One message to a driver and what it answers, by hand.
Result<Envelope> talk(int socket, std::vector<std::byte> bytes) {
  if (auto sent = send_datagram(socket, bytes); !sent) return propagate(sent);
  auto datagram = receive_datagram(socket, true, 253);
  if (!datagram) return propagate(datagram);
  return decode(datagram->bytes);
}

ErrorMessage refusal(Node& node, std::vector<std::byte> bytes) {
  auto socket = connect_to(node.socket_name());
  REQUIRE(socket);
  auto answer = talk(socket->get(), std::move(bytes));
  REQUIRE(answer);
  auto* error = std::get_if<ErrorMessage>(&answer->message);
  REQUIRE(error != nullptr);
  CHECK(receive_datagram(socket->get(), true, 0).error().code() == Errc::closed);
  return *error;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator each("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(each), end(each)));
}

}  // namespace

TEST_CASE("driver: only the same user and root may deal with it", "[llamanet]") {
  CHECK(may_deal_with(1000, 1000));
  CHECK(may_deal_with(1000, 0));
  CHECK_FALSE(may_deal_with(1000, 1001));
  CHECK_FALSE(may_deal_with(0, 1000));
}

TEST_CASE("driver: a name can be taken once", "[llamanet]") {
  DriverOptions options;
  options.name = unique_name();
  auto first = Driver::open(options);
  REQUIRE(first);
  auto second = Driver::open(options);
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == Errc::already_exists);
}

TEST_CASE("driver: what is no message is answered with an error and the end of the connection",
          "[llamanet]") {
  Node node(on_demand());
  node.start();
  CHECK(refusal(node, std::vector<std::byte>(5)).code == Errc::parse_error);
  CHECK(refusal(node, encode({1, Peers{0, 1}})).code == Errc::parse_error);
  CHECK(refusal(node, encode({1, Bye{}})).code == Errc::parse_error);
  CHECK(refusal(node, encode({1, Say{}})).code == Errc::parse_error);
  CHECK(refusal(node, encode({1, Attached{}})).code == Errc::parse_error);
  node.stop();
  CHECK(node.count(DriverEvent::Kind::refused) == 5);
}

TEST_CASE("driver: peers beyond the roster are refused", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto socket = connect_to(node.socket_name());
  REQUIRE(talk(socket->get(), encode({1, Inspect{}})));
  auto answer = talk(socket->get(), encode({2, Peers{0xfffffff0, 100}}));
  REQUIRE(answer);
  CHECK(std::get<ErrorMessage>(answer->message).code == Errc::invalid_argument);
}

TEST_CASE("driver: a slot of a job is only for who is expected there, once", "[llamanet]") {
  Node node({}, 2);
  node.driver().expect(1, 4711, 1);
  node.start();
  CHECK(refusal(node, encode({1, Attach{1, 7, 4711, ""}})).code == Errc::not_found);
  CHECK(refusal(node, encode({1, Attach{1, 0, 4711, ""}})).code == Errc::already_exists);
  CHECK(refusal(node, encode({1, Attach{1, 1, 4712, ""}})).code == Errc::permission_denied);
  auto application = Application::attach(node.options(1, 4711));
  REQUIRE(application);
  CHECK((*application)->slot() == 1);
  CHECK(refusal(node, encode({1, Attach{1, 1, 4711, ""}})).code == Errc::already_exists);
}

TEST_CASE("driver: sees a death after all that was said before it", "[llamanet]") {
  Node node({}, 2);
  node.driver().expect(0, 1, 1);
  auto child = ::fork();
  if (child == 0) {
    auto application = Application::attach(node.options(0, 1));
    if (!application) ::_exit(9);
    for (int i = 0; i < 10; ++i) (void)(*application)->say(SayKind::note, i, "before the end");
    ::_exit(3);
  }
  node.poll_until([&] { return node.count(DriverEvent::Kind::died) == 1; });
  CHECK(node.events().back().kind == DriverEvent::Kind::died);
  CHECK(node.events().back().pid == static_cast<std::uint32_t>(child));
  CHECK(node.count(DriverEvent::Kind::said) == 10);
  CHECK(node.driver().state(0) == SlotState::dead);
  ::waitpid(child, nullptr, 0);

  CHECK(node.driver().next_incarnation(0) == 2);
  node.driver().expect(0, 2, 2);
  node.start();
  auto second = Application::attach(node.options(0, 2));
  REQUIRE(second);
  CHECK((*second)->incarnation() == 2);
  CHECK((*second)->arena().adopted());
}

TEST_CASE("driver: on demand gives a freed slot to the next one, with another arena", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto first = Application::attach(node.options());
  REQUIRE(first);
  auto watcher = Application::attach(node.options());
  REQUIRE(watcher);
  CHECK((*first)->slot() == 0);
  REQUIRE((*first)->arena().add_log({1, 2}, 0, 0));
  auto arena_before = (*watcher)->roster().peer_arena(0);
  CHECK(arena_before != 0);
  first->reset();
  while ((*watcher)->roster().slot_state(0) != SlotState::free) std::this_thread::yield();
  REQUIRE((*watcher)->roster().refresh());
  CHECK((*watcher)->roster().peer_arena(0) == 0);
  auto third = Application::attach(node.options());
  REQUIRE(third);
  CHECK((*third)->slot() == 0);
  CHECK_FALSE((*third)->arena().adopted());
  REQUIRE((*watcher)->roster().refresh());
  CHECK((*watcher)->roster().peer_arena(0) != arena_before);
  CHECK((*watcher)->roster().peer(0).log_count() == 0);
}

TEST_CASE("driver: says when it is full", "[llamanet]") {
  auto options = on_demand();
  options.slot_count_max = 1;
  Node node(options);
  node.start();
  auto first = Application::attach(node.options());
  REQUIRE(first);
  auto second = Application::attach(node.options());
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == Errc::out_of_resources);
}

TEST_CASE("driver: keeps the arena of one who died with a TRANSIENT_LOCAL writer while others are there",
          "[llamanet]") {
  for (std::uint8_t durability : {0, 1}) {
    Node node(on_demand());
    auto child = ::fork();
    if (child == 0) {
      auto application = Application::attach(node.options());
      if (!application) ::_exit(9);
      log::EndpointDescription writer;
      writer.durability = durability;
      if (!(*application)->arena().add_endpoint(writer)) ::_exit(8);
      for (;;) ::pause();
    }
    node.poll_until([&] { return node.count(DriverEvent::Kind::attached) == 1; });
    node.poll_until([&] { return node.driver().view(0).state() == log::ArenaState::attached; });
    auto ready = [&] { return node.driver().view(0).ready(); };
    node.poll_until(ready);
    node.start();
    auto other = Application::attach(node.options());
    REQUIRE(other);
    while ((*other)->roster().peer(0).endpoint_count() == 0) std::this_thread::yield();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto after = durability == 1 ? SlotState::dead : SlotState::free;
    while ((*other)->roster().slot_state(0) != after) std::this_thread::yield();
    other->reset();
    node.stop();
    node.poll_until([&] { return node.driver().state(0) == SlotState::free; });
    CHECK(node.driver().close_if_idle());
  }
}

TEST_CASE("driver: slots can be added, and those who are attached see their arenas", "[llamanet]") {
  DriverOptions options;
  options.slot_count_max = 4;
  Node node(options, 1);
  node.driver().expect(0, 7, 1);
  node.start();
  auto first = Application::attach(node.options(0, 7));
  REQUIRE(first);
  CHECK((*first)->roster().slot_count() == 1);
  node.stop();
  auto added = node.driver().add_slots(2);
  REQUIRE(added);
  CHECK(*added == 1);
  node.driver().expect(1, 8, 1);
  node.driver().expect(2, 9, 1);
  node.start();
  auto second = Application::attach(node.options(1, 8));
  REQUIRE(second);
  CHECK((*second)->roster().peer(0).base != nullptr);
  CHECK((*second)->roster().peer(2).base != nullptr);
  CHECK((*first)->roster().peer(1).base == nullptr);
  auto refreshed = (*first)->roster().refresh();
  REQUIRE(refreshed);
  CHECK(*refreshed);
  CHECK((*first)->roster().slot_count() == 3);
  CHECK((*first)->roster().peer(1).ready());
  CHECK((*first)->roster().peer(2).base != nullptr);
  node.stop();
  auto too_many = node.driver().add_slots(2);
  REQUIRE_FALSE(too_many);
  CHECK(too_many.error().code() == Errc::out_of_resources);
  CHECK(node.driver().slot_count() == 3);
}

TEST_CASE("driver: added slots that are done cost no descriptors, and those who know them can still read",
          "[llamanet]") {
  constexpr std::uint32_t added_count = 5;
  DriverOptions options;
  options.slot_count_max = 2 + added_count;
  Node node(options, 2);
  node.driver().expect(0, 7, 1);
  node.driver().expect(1, 8, 1);
  node.start();
  auto reader = Application::attach(node.options(0, 7));
  auto other = Application::attach(node.options(1, 8));
  REQUIRE(reader);
  REQUIRE(other);
  node.stop();
  const std::size_t before = open_descriptors();
  for (std::uint32_t i = 0; i < added_count; ++i) {
    const auto slot = node.driver().add_slots(1);
    REQUIRE(slot);
    node.driver().expect(*slot, 9, 1);
    node.start();
    {
      auto added = Application::attach(node.options(*slot, 9));
      REQUIRE(added);
      (*added)->arena().set_state(log::ArenaState::finalized);
      REQUIRE((*reader)->roster().refresh());
    }
    node.stop();
    node.driver().mark_done(*slot);
    node.driver().poll(std::chrono::milliseconds(0));
  }
  node.start();
  REQUIRE((*other)->roster().refresh());
  REQUIRE((*reader)->roster().refresh());
  node.stop();
  CHECK(open_descriptors() == before);
  for (std::uint32_t slot = 2; slot < 2 + added_count; ++slot) {
    REQUIRE((*reader)->roster().peer(slot).ready());
    CHECK((*reader)->roster().peer(slot).header().state.load() ==
          static_cast<std::uint32_t>(log::ArenaState::finalized));
    CHECK((*other)->roster().peer(slot).base == nullptr);
  }
}

TEST_CASE("driver: an added slot is given out again once nobody has its arena", "[llamanet]") {
  DriverOptions options;
  options.slot_count_max = 3;
  Node node(options, 1);
  node.driver().expect(0, 7, 1);
  node.start();
  ApplicationOptions own = node.options(0, 7);
  own.peer_count = 1;
  auto first = Application::attach(own);
  REQUIRE(first);
  std::uint32_t arena_before = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    INFO("round " << round);
    node.stop();
    const auto slot = node.driver().add_slots(2);
    REQUIRE(slot);
    REQUIRE(*slot == 1);
    REQUIRE_FALSE(node.driver().add_slots(1));
    node.driver().expect(1, 8 + round, 1);
    node.start();
    // The token of the slot's application before is of no use.
    CHECK_FALSE(Application::attach(node.options(1, 7 + round)));
    auto added = Application::attach(node.options(1, 8 + round));
    REQUIRE(added);
    REQUIRE((*added)->arena().add_log({1, round}, 0, 0));
    REQUIRE((*first)->roster().meet(1));
    CHECK((*first)->roster().peer(1).log(0).key_low == round);
    CHECK((*first)->roster().peer_arena(1) != arena_before);
    arena_before = (*first)->roster().peer_arena(1);
    (*added)->leave_silently();
    added->reset();
    node.stop();
    for (const std::uint32_t done : {1, 2}) node.driver().mark_done(done);
    node.driver().poll(std::chrono::milliseconds(0));
    // Only by name of the arena that it has: what is late means nobody else.
    REQUIRE_FALSE(node.driver().add_slots(2));
    node.start();
    REQUIRE((*first)->roster().part(1));
    CHECK((*first)->roster().peer(1).base == nullptr);
    REQUIRE((*first)->roster().meet(1));  // waits for an answer, so that the driver has heard the other
    CHECK((*first)->roster().peer(1).base == nullptr);
  }
}

TEST_CASE("driver: its host answers who asks for more applications", "[llamanet]") {
  DriverOptions options;
  options.slot_count_max = 4;
  Node node(options, 1);
  node.driver().expect(0, 7, 1);
  node.start();
  auto application = Application::attach(node.options(0, 7));
  REQUIRE(application);
  const Spawn question{{{2, "a.out", "/tmp", "", "", {"x", ""}}}};
  Result<Spawned> answer = failure(Errc::not_found, "none");
  node.stop();
  std::thread asker([&] { answer = (*application)->spawn(question); });
  node.poll_until([&] { return node.count(DriverEvent::Kind::spawn) == 1; });
  for (auto& event : node.events()) {
    if (event.kind != DriverEvent::Kind::spawn) continue;
    CHECK(event.slot == 0);
    CHECK(event.spawn == question);
    node.driver().answer_spawn(event.question, {1, 2, ""});
    node.driver().answer_spawn({event.question.connection + 1, 1}, {1, 2, ""});
  }
  asker.join();
  REQUIRE(answer);
  CHECK(*answer == Spawned{1, 2, ""});
  const Spawn too_long{{{1, std::string(message_size_bytes_max, 'x'), "", "", "", {}}}};
  auto refused = (*application)->spawn(too_long);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::invalid_argument);
}

TEST_CASE("driver: a driver on demand starts no programs", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto application = Application::attach(node.options());
  REQUIRE(application);
  auto refused = (*application)->spawn({{{1, "a.out", "", "", "", {}}}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::unsupported);
}
