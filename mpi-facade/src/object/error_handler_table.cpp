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

Result<Reference<ErrorHandler>> find_error_handler(MPI_Errhandler handler, ErrorHandler::For objects) {
  struct Words {
    const char *objects, *letters;
  };
  constexpr Words words[] = {
      {"communicators", "Comm"}, {"windows", "Win"}, {"files", "File"}, {"sessions", "Session"}};
  Reference<ErrorHandler> found(error_handler_table().find(handler));
  if (!found) return failure(Errc::invalid_argument, "the error handler is null, or was freed");
  if (found->fits(objects)) return found;
  const Words& wanted = words[static_cast<int>(objects)];
  return failure(Errc::invalid_argument,
                 "the error handler is not for {}: make one with MPI_{}_create_errhandler", wanted.objects,
                 wanted.letters);
}

}  // namespace llamada::mpi
