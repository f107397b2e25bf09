#pragma once

#include <mpi.h>

#include <cstddef>

#include "llamada/base/check.hpp"
#include "object/datatype.hpp"
#include "object/reference.hpp"

namespace llamada::mpi {

/// How a library of C++ bindings built for MPICH has the program's functions called (MPII_Op_set_cxx).
using CxxOperationProxy = void(const void* in, void* inout, int count, MPI_Datatype datatype,
                               MPI_User_function* function);

/// An operation of reductions (MPI 3.1, 5.9): predefined, or the program's function.
class Operation : public Counted {
 public:
  /// A predefined operation by its handle, MPI_MAX to MPI_NO_OP.
  explicit Operation(MPI_Op predefined) : predefined_(predefined) {}
  Operation(MPI_User_function* function, bool commutes) : function_(function), commutes_(commutes) {}

  bool is_predefined() const { return predefined_ != MPI_OP_NULL; }
  /// Whether operands may be swapped. (All are taken to be associative.)
  bool commutes() const { return commutes_; }
  /// Whether elements of this type may be reduced with it (5.9.2 and 5.9.4; any type for the program's
  /// functions).
  bool accepts(const Datatype& datatype) const {
    return !is_predefined() || element_operation(datatype) != nullptr;
  }
  /// "MPI_SUM"; "a user-defined operation".
  const char* name() const;
  /// The program's function is called by `proxy`.
  void set_cxx(CxxOperationProxy* proxy) { proxy_ = proxy; }

  /// inout[i] = in[i] op inout[i] for `count` elements. Call only when accepts(datatype).
  void apply(const void* in, void* inout, std::size_t count, const Datatype& datatype) const {
    if (!is_predefined()) return apply_own(in, inout, count, datatype);
    const ElementOperation operation = element_operation(datatype);
    LLAMADA_CHECK(operation != nullptr);
    operation(in, inout, count);
  }

 private:
  ElementOperation element_operation(const Datatype& datatype) const {
    const ElementOperations* const operations = datatype.operations();
    return operations ? operations->by_operation[predefined_ & 0xf] : nullptr;
  }
  void apply_own(const void* in, void* inout, std::size_t count, const Datatype& datatype) const;

  MPI_Op predefined_ = MPI_OP_NULL;
  MPI_User_function* function_ = nullptr;
  CxxOperationProxy* proxy_ = nullptr;
  bool commutes_ = true;
};

}  // namespace llamada::mpi
