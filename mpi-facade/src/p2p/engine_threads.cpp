#include <algorithm>

#include "p2p/engine.hpp"
#include "world/cores.hpp"

// The engine when several threads call MPI (MPI_THREAD_MULTIPLE; MPI 3.1, 12.4).

namespace llamada::mpi {
namespace {

/// Cores that are left when each rank has one.
unsigned spare_cores(const World& world) {
  if (world.oversubscribed()) return 0;
  return static_cast<unsigned>(std::max(cores_allowed() / world.size() - 1, 0));
}

}  // namespace

/// What the thread that waits for all does.
class Engine::SharedWork final : public SharedWaiting::Work {
 public:
  explicit SharedWork(Engine& engine) : engine_(engine) {}

  bool progress() override { return engine_.progress(); }
  bool anything_new() override { return engine_.anything_new(); }
  void look_around() override { engine_.look_around(); }
  void sleep(const std::function<bool()>& look_again) override { engine_.world_.sleep(look_again); }
  void end_sleep() override { engine_.world_.wake(engine_.world_.rank()); }

 private:
  Engine& engine_;
};

SharedWaiting* Engine::share(LibraryLock& lock) {
  SharedWaiting::Options options;
  options.spin_rounds = spin_rounds_;
  options.yields_before_sleep = options_.yields_before_sleep;
  options.spinners_max = spare_cores(world_);
  shared_work_ = std::make_unique<SharedWork>(*this);
  shared_ = std::make_unique<SharedWaiting>(lock, *shared_work_, clock_, options);
  return shared_.get();
}

Engine::~Engine() = default;

void Engine::hold_objects(Request& request) {
  request.kept = std::make_unique<Request::Kept>();
  request.kept->type = Reference<Datatype>(const_cast<Datatype*>(request.buffer.type));
  request.kept->communicator = Reference<Communicator>(request.communicator);
}

}  // namespace llamada::mpi
