#include "llamada/llamanet/start_driver.hpp"

#include <sys/wait.h>

#include "llamada/llamanet/inspector.hpp"
#include "llamada/llamanet/transport.hpp"
#include "node.hpp"
#include "socket.hpp"

using namespace llamada;
using namespace llamada::llamanet;

TEST_CASE("start_driver: a program that finds none starts one, which ends with its last application",
          "[llamanet]") {
  ApplicationOptions options;
  options.socket_name = socket_name(::geteuid(), unique_name());
  {
    auto first = LlamanetTransport::open(options);
    INFO((first ? "" : first.error().text()));
    REQUIRE(first);
    auto second = LlamanetTransport::open(options);
    REQUIRE(second);
    CHECK((*first)->slot() != (*second)->slot());
    first->reset();
    CHECK(Inspector::open(options.socket_name));
  }
  while (connect_to(options.socket_name)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST_CASE("start_driver: many that start at once agree on one driver", "[llamanet]") {
  constexpr int programs = 8;
  ApplicationOptions options;
  options.socket_name = socket_name(::geteuid(), unique_name());
  std::array<int, 2> ready, go;
  REQUIRE(::pipe(ready.data()) == 0);
  REQUIRE(::pipe(go.data()) == 0);
  std::vector<pid_t> children;
  for (int i = 0; i < programs; ++i) {
    auto child = ::fork();
    if (child == 0) {
      auto transport = LlamanetTransport::open(options);
      char byte = transport ? 'y' : 'n';
      (void)!::write(ready[1], &byte, 1);
      ::close(go[1]);
      (void)!::read(go[0], &byte, 1);
      if (transport) transport->reset();
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (int i = 0; i < programs; ++i) {
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK(byte == 'y');
  }
  auto inspector = Inspector::open(options.socket_name);
  REQUIRE(inspector);
  CHECK(inspector->slots().size() == programs);
  ::close(go[1]);
  for (auto child : children) ::waitpid(child, nullptr, 0);
}

TEST_CASE("start_driver: a program that is no driver is an error", "[llamanet]") {
  auto started = start_driver("/bin/false", socket_name(::geteuid(), unique_name()));
  REQUIRE_FALSE(started);
  CHECK(started.error().code() == Errc::not_found);
}
