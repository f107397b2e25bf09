#include "object/error_handler_table.hpp"

#include <memory>

namespace llamada::mpi {

HandleTable<ErrorHandler, ObjectKind::error_handler>& error_handler_table() {
  using Table = HandleTable<ErrorHandler, ObjectKind::error_handler>;
  using Kind = ErrorHandler::Kind;
  // Kept to the end of the process: handlers at exit may use it.
  static Table& table = []() -> Table& {
    Table* made = std::make_unique<Table>().release();
    made->set_builtin(MPI_ERRORS_ARE_FATAL, make_counted<ErrorHandler>(Kind::fatal));
    made->set_builtin(MPI_ERRORS_RETURN, make_counted<ErrorHandler>(Kind::returns));
    made->set_builtin(errors_throw_exceptions, make_counted<ErrorHandler>(Kind::throws));
    made->set_builtin(MPI_ERRORS_ABORT, make_counted<ErrorHandler>(Kind::aborts));
    return *made;
  }();
  return table;
}

}  // namespace llamada::mpi
