#include "llamada/llamanet/inspector.hpp"

#include <algorithm>

#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

TEST_CASE("inspector: sees a driver, its applications and their endpoints", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto application = Application::attach(node.options());
  REQUIRE(application);
  log::EndpointDescription writer;
  writer.topic = "Square";
  REQUIRE((*application)->arena().add_endpoint(writer));
  (*application)->arena().set_call(5);
  auto drivers = find_drivers(::geteuid());
  REQUIRE(drivers);
  CHECK(std::count(drivers->names.begin(), drivers->names.end(), node.socket_name()) == 1);
  auto inspector = Inspector::open(node.socket_name());
  REQUIRE(inspector);
  REQUIRE(inspector->slots().size() == 1);
  auto& slot = inspector->slots()[0];
  CHECK(slot.state == SlotState::attached);
  CHECK(slot.pid == static_cast<std::uint32_t>(::getpid()));
  CHECK(slot.view().call_id() == 5);
  REQUIRE(slot.peer().endpoint_count() == 1);
  CHECK(std::string(slot.peer().endpoint(0).topic) == "Square");
}

TEST_CASE("inspector: a driver that does not answer is waited for no longer than that", "[llamanet]") {
  const Node stopped(on_demand());
  auto silent = Inspector::open(stopped.socket_name(), std::chrono::milliseconds(50));
  REQUIRE_FALSE(silent);
  CHECK(silent.error().code() == Errc::timeout);
  CHECK(silent.error().text().find(std::to_string(::getpid())) != std::string::npos);
}

TEST_CASE("inspector: refresh() maps what has come since, and keeps what is the same", "[llamanet]") {
  Node node(on_demand());
  node.start();
  auto first = Application::attach(node.options());
  REQUIRE(first);
  auto inspector = Inspector::open(node.socket_name());
  REQUIRE(inspector);
  REQUIRE(inspector->slots().size() == 1);
  const auto kept = inspector->slots()[0].arena;
  const std::uint64_t before = inspector->generation();
  auto second = Application::attach(node.options());
  REQUIRE(second);
  CHECK(inspector->generation() != before);
  CHECK(inspector->slots().size() == 1);
  REQUIRE(inspector->refresh());
  REQUIRE(inspector->slots().size() == 2);
  CHECK(inspector->slots()[0].arena == kept);
  CHECK(inspector->slots()[1].peer().ready());
  CHECK_FALSE(inspector->has_ended());
}
