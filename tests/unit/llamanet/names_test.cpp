#include "names.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

Name publish(NameSpace space, const std::string& name, const std::string& value) {
  return {space, NameAction::publish, name, value};
}
Name look_up(NameSpace space, const std::string& name) { return {space, NameAction::look_up, name, {}}; }
Name withdraw(NameSpace space, const std::string& name) { return {space, NameAction::withdraw, name, {}}; }

}  // namespace

TEST_CASE("names: what is published is found until it is withdrawn", "[llamanet]") {
  Names names;
  CHECK(names.handle(1, look_up(NameSpace::services, "a")).code == Errc::not_found);
  CHECK(names.handle(1, publish(NameSpace::services, "a", "here")).done);
  CHECK(names.handle(2, look_up(NameSpace::services, "a")) == Named{Errc::not_found, true, "here"});
  CHECK(names.handle(2, publish(NameSpace::services, "a", "there")) ==
        Named{Errc::already_exists, false, ""});
  CHECK(names.handle(2, withdraw(NameSpace::services, "a")).done);
  CHECK_FALSE(names.handle(1, look_up(NameSpace::services, "a")).done);
  CHECK(names.handle(1, withdraw(NameSpace::services, "a")).code == Errc::not_found);
}

TEST_CASE("names: each space has its own", "[llamanet]") {
  Names names;
  CHECK(names.handle(1, publish(NameSpace::services, "a", "service")).done);
  CHECK_FALSE(names.handle(1, look_up(NameSpace::ports, "a")).done);
  CHECK(names.handle(1, publish(NameSpace::ports, "a", "port")).done);
  CHECK(names.handle(1, look_up(NameSpace::services, "a")).value == "service");
}

TEST_CASE("names: ports go with their application, services stay", "[llamanet]") {
  Names names;
  CHECK(names.handle(1, publish(NameSpace::ports, "one", "")).done);
  CHECK(names.handle(2, publish(NameSpace::ports, "two", "")).done);
  CHECK(names.handle(1, publish(NameSpace::services, "one", "")).done);
  names.application_gone(1);
  CHECK_FALSE(names.handle(2, look_up(NameSpace::ports, "one")).done);
  CHECK(names.handle(2, look_up(NameSpace::ports, "two")).done);
  CHECK(names.handle(2, look_up(NameSpace::services, "one")).done);
}

TEST_CASE("names: there is an end to them", "[llamanet]") {
  Names names;
  for (std::size_t i = 0; i < Names::count_max; ++i)
    REQUIRE(names.handle(1, publish(NameSpace::services, std::to_string(i), "")).done);
  CHECK(names.handle(1, publish(NameSpace::services, "more", "")).code == Errc::out_of_resources);
}
