#pragma once

#include <memory>
#include <string>
#include <vector>

#include "p2p/progress.hpp"
#include "p2p/receiving.hpp"
#include "runtime/runtime.hpp"
#include "set_clock.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

namespace llamada::mpi {

/// The parts of an engine, each to be tested beside real neighbours: the first of two ranks, whose peer has
/// sent nothing. Requests are complete when they say so; a replay that differs throws the text.
struct Parts final : ReceiveOwner, SendOwner, CopyOwner {
  explicit Parts(ProgressHook* hook = nullptr)
      : job(make_job()),
        world(std::move(*job->attach(0))),
        determinants(std::move(*replay::Determinants::open(*world))),
        direct(*world, *this),
        outgoing(*world, *this, direct, {}),
        receiving({*world, *determinants, requests, outgoing, direct, early, *this, false}),
        incoming(*world, receiving),
        progress({incoming, outgoing, direct, receiving, requests, hook}) {
    objects.add_world(0, 2, 1, 2);
  }

  static std::unique_ptr<InProcessJob> make_job() {
    InProcessJob::Options options;
    options.size = 2;
    return std::move(*InProcessJob::create(options));
  }

  Communicator& communicator() { return *objects.comm_world(); }
  /// A receive of bytes.
  void describe(Request& request, std::vector<std::byte>& bytes, int source, int tag) {
    request.kind = Request::Kind::receive;
    request.buffer = {bytes.data(), bytes.size(), objects.datatypes.find(MPI_BYTE)};
    request.communicator = &communicator();
    request.peer = source;
    request.tag = tag;
  }

  void differs(const std::string& difference) override { throw difference; }
  void revoked(std::uint32_t) override {}
  void send_complete(Request& request) override { requests.complete(request); }
  bool may_send_new() override { return true; }
  bool may_tell_new() override { return true; }
  void no_memory(const Error& error) override { throw error.text(); }
  std::uint64_t heard(int rank, std::uint32_t context) override { return incoming.heard(rank, context); }
  void received_directly(Request& request) override { receiving.finish(request); }
  void sent_directly(Request& request) override { requests.complete(request); }
  void grant_directly(int source, const DirectGrant& grant) override {
    outgoing.grant_directly(source, grant);
  }

  SetClock clock;
  Runtime objects;
  std::unique_ptr<InProcessJob> job;
  std::unique_ptr<World> world;
  std::unique_ptr<replay::Determinants> determinants;
  RequestTable requests;
  EarlyCopies early;
  DirectCopies direct;
  Outgoing outgoing;
  Receiving receiving;
  Incoming incoming;
  Progress progress;
};

}  // namespace llamada::mpi
