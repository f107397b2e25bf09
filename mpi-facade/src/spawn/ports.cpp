#include "spawn/ports.hpp"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "coll/intercommunicator.hpp"
#include "coll/messages.hpp"
#include "llamada/base/clock.hpp"
#include "runtime/runtime.hpp"
#include "world/world.hpp"

namespace llamada::mpi {
namespace {

/// While it waits to be accepted, a caller looks so often whether the port is still open.
constexpr std::chrono::milliseconds port_look_every{200};

/// What a caller tells the port: over which bridge it waits.
struct Call {
  int slot = 0;
  int tag = 0;
};

World& world() { return *runtime().world; }

/// To a slot, in the context of ports.
Reference<Communicator> way_to(int slot) {
  const int self = runtime().world_rank;
  return make_counted<Communicator>(port_context, make_counted<Group>(std::vector<int>{slot}, self),
                                    runtime().comm_world()->error_handler());
}

Verdict no_port(const Error& error) { return Verdict::refused(MPI_ERR_PORT, error.text()); }

bool is_open(const Port& port) { return world().look_up_name(NameSpace::ports, port.name()).has_value(); }

Result<Port> own_port(const char* name) {
  auto port = Port::parse(name);
  if (!port) return port;
  if (port->slot != runtime().world_rank || !is_open(*port))
    return failure(Errc::not_found, "this process has no open port '{}'", name);
  return port;
}

Result<Port> open_port_of_other(const char* name) {
  auto port = Port::parse(name);
  if (!port) return port;
  if (!is_open(*port)) return failure(Errc::not_found, "nobody has the port '{}' open", name);
  return port;
}

/// Waits for the next who calls the port.
Result<Call> take_call(const Port& port) {
  Engine& engine = *runtime().engine;
  const Reference<Communicator> way = way_to(runtime().world_rank);
  Messages messages(*way);
  Engine::Listening listening(engine);
  engine.wait_until([&] {
    listening.look_around();
    return messages.has_come(MPI_ANY_SOURCE, port.number);
  });
  Call call;
  auto received = messages.receive_from_any(std::span(&call, 1), port.number);
  if (!received) return propagate(received);
  return call;
}

/// What who accepts and who calls tell each other over the bridge: who takes a call says so, and learns from
/// the caller whether it still waits. The caller decides alone, so that both have the same answer.
enum class Word : char { taken, here, gone };

void say(Messages& messages, Word word, int to, int tag) {
  messages.send(std::span<const Word>(&word, 1), to, tag);
}

/// Whether the caller, to whom the way leads, still waits.
Result<bool> is_still_there(Messages& way, int tag) {
  say(way, Word::taken, 0, tag);
  Word answer = Word::gone;
  auto received = way.receive(std::span(&answer, 1), 0, tag);
  if (!received) return propagate(received);
  return answer == Word::here;
}

/// Tells the port, and waits until it is taken. not_found when the port has been closed instead, timeout when
/// nobody took it in time.
Status call_port(const Port& port, const Call& call, Communicator& bridge, std::chrono::seconds timeout) {
  const Reference<Communicator> way = way_to(port.slot);
  Messages(*way).send(std::span<const Call>(&call, 1), 0, port.number);
  Messages answers(bridge);
  const Clock& clock = runtime().engine->clock();
  const auto called = clock.monotonic();
  auto looked = called;
  bool closed = false;
  runtime().engine->wait_until([&] {
    if (answers.has_come(1, call.tag)) return true;
    if (clock.monotonic() - looked < port_look_every) return false;
    looked = clock.monotonic();
    // What it had said before it closed has been looked for since.
    if (closed || looked - called >= timeout) return true;
    closed = !is_open(port);
    return false;
  });
  if (!answers.has_come(1, call.tag)) {
    say(answers, Word::gone, 1, call.tag);
    if (closed) return failure(Errc::not_found, "the port '{}' was closed", port.name());
    return failure(Errc::timeout, "nobody accepted at the port '{}' for {} s", port.name(), timeout.count());
  }
  say(answers, Word::here, 1, call.tag);
  Word taken = Word::gone;
  return answers.receive(std::span(&taken, 1), 1, call.tag);
}

}  // namespace

std::string Port::name() const { return fmt::format("{}:{}:{}", world().job_name(), slot, number); }

Result<Port> Port::parse(const std::string& name) {
  const std::string job = world().job_name() + ":";
  Port port;
  if (name.starts_with(job)) {
    const char* end = name.data() + name.size();
    const auto slot = std::from_chars(name.data() + job.size(), end, port.slot);
    if (slot.ec == std::errc() && slot.ptr != end && *slot.ptr == ':') {
      const auto number = std::from_chars(slot.ptr + 1, end, port.number);
      if (number.ec == std::errc() && number.ptr == end && port.slot >= 0 && port.slot < world().size() &&
          port.number > 0)
        return port;
    }
  }
  return failure(Errc::invalid_argument,
                 "'{}' is no port of this job; processes of two mpiruns cannot be connected", name);
}

Result<std::string> open_port() {
  const Port port{runtime().world_rank, ++runtime().spawning.port_count};
  const std::string name = port.name();
  if (auto published = world().publish_name(NameSpace::ports, name, {}); !published)
    return propagate(published);
  return name;
}

Status close_port(const std::string& name) {
  auto port = own_port(name.c_str());
  if (!port) return propagate(port);
  return world().withdraw_name(NameSpace::ports, name);
}

std::chrono::seconds default_connect_timeout() {
  for (const char* name : {"LLAMADA_CONNECT_TIMEOUT", "MPIR_CVAR_CH4_COMM_CONNECT_TIMEOUT",
                           "MPIR_CVAR_CH3_COMM_CONNECT_TIMEOUT"}) {
    const char* seconds = std::getenv(name);
    if (seconds != nullptr && std::atoi(seconds) > 0) return std::chrono::seconds(std::atoi(seconds));
  }
  return std::chrono::seconds(180);
}

Result<Communicator*> accept(Communicator& local, const Connection& connection, Verdict& verdict) {
  const int root = connection.root;
  Port port;
  if (local.rank() == root) {
    auto own = own_port(connection.port_name);
    if (own)
      port = *own;
    else
      verdict = no_port(own.error());
  }
  share(local, verdict, root);
  if (!verdict.good()) return nullptr;
  InterBridge bridge{root, nullptr, 0, 0};
  Reference<Communicator> way;
  while (local.rank() == root && bridge.peer == nullptr) {
    auto call = take_call(port);
    if (!call) return propagate(call);
    way = make_bridge(call->slot, runtime().world_rank);
    Messages messages(*way);
    auto waits = is_still_there(messages, call->tag);
    if (!waits) return propagate(waits);
    if (*waits) bridge.peer = way.get();
    bridge.tag = call->tag;
  }
  return create_intercommunicator(local, bridge);
}

Result<Communicator*> connect(Communicator& local, const Connection& connection, Verdict& verdict) {
  const int root = connection.root;
  InterBridge bridge{root, nullptr, 1, 0};
  Reference<Communicator> way;
  if (local.rank() == root) {
    auto port = open_port_of_other(connection.port_name);
    Status called;
    if (port) {
      bridge.tag = next_bridge_tag();
      way = make_bridge(runtime().world_rank, port->slot);
      bridge.peer = way.get();
      called = call_port(*port, {runtime().world_rank, bridge.tag}, *way, connection.timeout);
    }
    if (!port)
      verdict = no_port(port.error());
    else if (!called)
      verdict = no_port(called.error());
  }
  share(local, verdict, root);
  if (!verdict.good()) return nullptr;
  return create_intercommunicator(local, bridge);
}

}  // namespace llamada::mpi
