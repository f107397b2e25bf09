#include "runtime/arguments.hpp"

namespace llamada::mpi::detail {
namespace {

unsigned hexadecimal(int handle) { return static_cast<unsigned>(handle); }

}  // namespace

int bad_communicator(MPI_Comm comm) {
  return report(nullptr, MPI_ERR_COMM,
                comm == MPI_COMM_NULL
                    ? "the communicator is MPI_COMM_NULL"
                    : fmt::format("{:#x} is no communicator, or one that was freed", hexadecimal(comm)));
}

int bad_intercommunicator(Communicator* communicator) {
  return report(communicator, MPI_ERR_COMM, "this is not built for intercommunicators");
}

int bad_intracommunicator(Communicator* communicator) {
  return report(communicator, MPI_ERR_COMM, "the communicator is not an intercommunicator");
}

int bad_datatype(Communicator* communicator, MPI_Datatype datatype, const Datatype* found) {
  if (found) {
    return report(communicator, MPI_ERR_TYPE,
                  "the datatype has not been committed: call MPI_Type_commit first");
  }
  return report(communicator, MPI_ERR_TYPE,
                datatype == MPI_DATATYPE_NULL
                    ? "the datatype is MPI_DATATYPE_NULL"
                    : fmt::format("{:#x} is no datatype, or one that was freed", hexadecimal(datatype)));
}

int bad_count(Communicator* communicator, long long count, const char* what) {
  return report(communicator, MPI_ERR_COUNT,
                fmt::format("the {} is {}, it must not be negative", what, count));
}

int too_much_data(Communicator* communicator, long long count) {
  return report(communicator, MPI_ERR_COUNT,
                fmt::format("{} elements of this datatype are more bytes than there are addresses", count));
}

int bad_buffer(Communicator* communicator, const void* buffer) {
  return report(communicator, MPI_ERR_BUFFER,
                buffer ? "MPI_IN_PLACE is not allowed here" : "the buffer is null, but there is data");
}

int bad_rank(Communicator* communicator, int rank, const char* what) {
  return report(
      communicator, MPI_ERR_RANK,
      fmt::format("the {} {} is no rank of a communicator of {}", what, rank, communicator->peers().size()));
}

int bad_root(Communicator* communicator, int root) {
  return report(communicator, MPI_ERR_ROOT,
                fmt::format("the root {} is no rank of a communicator of {}", root, communicator->size()));
}

int bad_tag(Communicator* communicator, int tag, bool any_allowed) {
  return report(communicator, MPI_ERR_TAG,
                fmt::format("the tag {} is not in 0 to {}{}", tag, runtime().attributes.tag_upper_bound,
                            any_allowed ? ", nor MPI_ANY_TAG" : ""));
}

int bad_operation(Communicator* communicator, MPI_Op op, const Operation* found, const Datatype* datatype) {
  if (found) {
    return report(communicator, MPI_ERR_OP,
                  fmt::format("{} is not defined for {}", found->name(),
                              datatype->name().empty() ? "a derived datatype" : datatype->name()));
  }
  return report(communicator, MPI_ERR_OP,
                op == MPI_OP_NULL
                    ? "the operation is MPI_OP_NULL"
                    : fmt::format("{:#x} is no operation, or one that was freed", hexadecimal(op)));
}

int null_pointer(Communicator* communicator, const char* what) {
  return report(communicator, MPI_ERR_ARG, fmt::format("the {} is a null pointer", what));
}

}  // namespace llamada::mpi::detail
