#include "runtime/runtime.hpp"

#include <algorithm>
#include <numeric>

#include "object/type_builder.hpp"

namespace llamada::mpi {

Runtime* detail::current_runtime = nullptr;

Runtime::Runtime() {
  add_predefined_types(datatypes);
  for (MPI_Op op = MPI_MAX; op <= MPI_NO_OP; ++op) operations.set_builtin(op, make_counted<Operation>(op));
  groups.set_builtin(MPI_GROUP_EMPTY, make_counted<Group>(std::vector<int>{}, world_rank));
}

Runtime::~Runtime() = default;

void Runtime::add_world(int rank, int size, std::uint32_t world_context, std::uint32_t self_context,
                        int first) {
  world_rank = rank;
  world_first = first;
  world_size = size;
  groups.set_builtin(MPI_GROUP_EMPTY, make_counted<Group>(std::vector<int>{}, rank));
  const Reference<ErrorHandler> fatal_handler(error_handlers.find(MPI_ERRORS_ARE_FATAL));
  const auto add = [&](MPI_Comm handle, std::uint32_t context, std::vector<int> members, const char* name) {
    auto communicator =
        make_counted<Communicator>(context, make_counted<Group>(std::move(members), rank), fatal_handler);
    communicator->set_handle(handle);
    communicator->set_name(name);
    communicators.set_builtin(handle, std::move(communicator));
  };
  std::vector<int> everybody(static_cast<std::size_t>(size));
  std::iota(everybody.begin(), everybody.end(), first);
  add(MPI_COMM_WORLD, world_context, std::move(everybody), "MPI_COMM_WORLD");
  add(MPI_COMM_SELF, self_context, {rank}, "MPI_COMM_SELF");
}

Communicator* Runtime::add_communicator(const Communicator& parent, std::uint32_t context,
                                        Reference<Group> group) {
  auto communicator = make_counted<Communicator>(context, std::move(group), parent.error_handler());
  Communicator* made = communicator.get();
  made->set_handle(communicators.insert(std::move(communicator)));
  return made;
}

void install_runtime(Runtime* runtime) {
  install_call_state(runtime);
  std::atomic_ref(detail::current_runtime).store(runtime, std::memory_order_release);
}

}  // namespace llamada::mpi
