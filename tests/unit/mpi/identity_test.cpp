#include "world/identity.hpp"

#include "test.hpp"

using namespace llamada;

TEST_CASE("identity: the value of a key is that of the line that begins with it", "[mpi]") {
  constexpr std::string_view identity = "host=node3\nhosts=2\nempty=\ncalls=17";
  CHECK(mpi::identity_value(identity, "host") == "node3");
  CHECK(mpi::identity_value(identity, "hosts") == "2");
  CHECK(mpi::identity_value(identity, "calls") == "17");
  CHECK(mpi::identity_value(identity, "empty").empty());
  CHECK(mpi::identity_value(identity, "call").empty());
  CHECK(mpi::identity_value({}, "host").empty());
}
