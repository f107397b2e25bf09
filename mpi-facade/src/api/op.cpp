#include "runtime/arguments.hpp"

// MPI 3.1, 5.9.5 to 5.9.7: operations of reductions.
using namespace llamada::mpi;

namespace {

int find_any_operation(MPI_Op op, Operation*& found) {
  found = runtime().operations.find(op);
  return found ? MPI_SUCCESS : detail::bad_operation(nullptr, op, nullptr, nullptr);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Op_create)
int PMPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  LLAMADA_MPI_ENTER(Op_create);
  if (int code = check_pointer(nullptr, reinterpret_cast<const void*>(function), "function")) return code;
  if (int code = check_pointer(nullptr, op, "operation")) return code;
  *op = runtime().operations.insert(make_counted<Operation>(function, commutes != 0));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Op_free)
int PMPI_Op_free(MPI_Op* op) {
  LLAMADA_MPI_ENTER(Op_free);
  if (int code = check_pointer(nullptr, op, "operation")) return code;
  Operation* operation = nullptr;
  if (int code = find_any_operation(*op, operation)) return code;
  if (operation->is_predefined())
    return report(nullptr, MPI_ERR_OP, "a predefined operation cannot be freed");
  runtime().operations.erase(*op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Op_commutative)
int PMPI_Op_commutative(MPI_Op op, int* commutes) {
  LLAMADA_MPI_ENTER(Op_commutative);
  Operation* operation = nullptr;
  if (int code = find_any_operation(op, operation)) return code;
  if (int code = check_pointer(nullptr, commutes, "answer")) return code;
  *commutes = operation->commutes();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Reduce_local)
int PMPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype datatype, MPI_Op op) {
  LLAMADA_MPI_ENTER(Reduce_local);
  Datatype* type = nullptr;
  if (int code = find_committed(nullptr, datatype, type)) return code;
  if (int code = check_count(nullptr, count)) return code;
  Operation* operation = nullptr;
  if (int code = find_operation(nullptr, op, *type, operation)) return code;
  for (const void* buffer : {in, static_cast<const void*>(inout)}) {
    if (int code = check_buffer(nullptr, buffer, count, *type)) return code;
  }
  if (count > 0 && in == inout) return report(nullptr, MPI_ERR_BUFFER, "both buffers are the same");
  const Reference<Operation> in_use(operation);
  if (count > 0) operation->apply(in, inout, static_cast<std::size_t>(count), *type);
  return MPI_SUCCESS;
}
