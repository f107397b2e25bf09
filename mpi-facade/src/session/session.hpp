#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

#include "object/error_handler.hpp"
#include "object/info.hpp"
#include "object/reference.hpp"

namespace llamada::mpi {

/// A session (MPI 4.0, 11.3): what MPI_Session_init gives. The library is there while one is open, or while
/// MPI is initialised.
class Session : public Counted {
 public:
  Session(Reference<ErrorHandler> error_handler, int thread_level)
      : error_handler_(std::move(error_handler)), thread_level_(thread_level) {}

  MPI_Session handle = MPI_SESSION_NULL;
  int thread_level() const { return thread_level_; }
  const Reference<ErrorHandler>& error_handler() const { return error_handler_; }
  void set_error_handler(Reference<ErrorHandler> handler) { error_handler_ = std::move(handler); }

 private:
  Reference<ErrorHandler> error_handler_;
  int thread_level_;
};

/// "MPI_THREAD_MULTIPLE" and its like, as the key thread_level has them.
std::string_view thread_level_name(int level);
/// -1 for what is no level.
int thread_level_of(std::string_view name);

/// The process sets that there are, in the order of MPI_Session_get_nth_pset.
inline constexpr std::string_view process_sets[] = {"mpi://WORLD", "mpi://SELF"};
/// The slots of a process set, whatever the case of its letters; empty: there is none of this name.
std::vector<int> members_of_set(std::string_view name);

/// As find_communicator().
int find_session(MPI_Session handle, Session*& found);

}  // namespace llamada::mpi
