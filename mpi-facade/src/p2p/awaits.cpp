#include "p2p/awaits.hpp"

#include <fmt/core.h>

#include <utility>

#include "object/communicator.hpp"
#include "p2p/request.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {
namespace {

void describe_source(waits::Awaited& awaited, const Communicator& communicator, int source) {
  if (source != any_source)
    awaited.peer = source;
  else
    awaited.ranks = waits::Ranks::of(communicator.peers().members());
}

}  // namespace

void AwaitsRequest::describe(waits::Report& report) const { describe_request(report, request_); }

void AwaitsMessage::describe(waits::Report& report) const {
  waits::Awaited awaited;
  awaited.kind = waits::Kind::probe;
  awaited.tag = tag_;
  awaited.name = communicator_.description();
  describe_source(awaited, communicator_, source_);
  report.add_awaited(std::move(awaited));
}

void describe_request(waits::Report& report, const Request& request) {
  if (request.kind == Request::Kind::task && request.kept && request.kept->task)
    return request.kept->task->describe(report);
  waits::Awaited awaited;
  awaited.tag = request.tag;
  awaited.bytes = request.buffer.type ? request.buffer.bytes() : 0;
  if (request.communicator) awaited.name = request.communicator->description();
  if (request.kind == Request::Kind::send) {
    awaited.kind = waits::Kind::send;
    awaited.peer = request.destination;
  } else if (request.kind == Request::Kind::receive && request.communicator) {
    awaited.kind = waits::Kind::receive;
    describe_source(awaited, *request.communicator, request.source);
    // Its message has been found: what is left comes by itself.
    if (!request.queued) report.is_under_way = true;
  }
  report.add_awaited(std::move(awaited));
}

std::string name_of_context(std::uint32_t context) {
  const Runtime* runtime = runtime_if_any();
  if (!runtime) return fmt::format("the communicator with context {}", context);
  const Communicator* found = nullptr;
  runtime->for_each_communicator([&](const Communicator& each) {
    if (each.context() == context) found = &each;
  });
  return found ? found->description() : fmt::format("the communicator with context {}", context);
}

}  // namespace llamada::mpi
