#include "runtime/any_time.hpp"
#include "runtime/arguments.hpp"

// What MPICH's library of C++ bindings (libmpicxx, Debian: libmpichcxx) asks of libmpi besides MPI: that the
// functions which it registers for the program be called by functions of its own.
using namespace llamada::mpi;

namespace {

template <typename To>
To* as(void (*function)()) {
  return reinterpret_cast<To*>(function);
}

}  // namespace

extern "C" {

#define LLAMADA_FOR_CXX __attribute__((visibility("default")))

LLAMADA_FOR_CXX void MPII_Op_set_cxx(MPI_Op op, void (*proxy)()) {
  LLAMADA_MPI_ENTER(Op_create);
  if (Operation* operation = runtime().operations.find(op)) operation->set_cxx(as<CxxOperationProxy>(proxy));
}

LLAMADA_FOR_CXX void MPII_Errhandler_set_cxx(MPI_Errhandler handler, void (*proxy)()) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Comm_create_errhandler);
  if (ErrorHandler* found = error_handler_table().find(handler)) found->set_cxx(as<CxxErrorProxy>(proxy));
}

LLAMADA_FOR_CXX void MPII_Keyval_set_proxy(int keyval, CxxCopyProxy* copy, CxxDeleteProxy* destroy) {
  LLAMADA_MPI_ENTER(Comm_create_keyval);
  if (Keyval* key = runtime().keyvals.find(keyval)) key->set_cxx(copy, destroy);
}

}  // extern "C"
