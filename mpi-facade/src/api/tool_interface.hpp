#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include "api/tool_variables.hpp"
#include "runtime/entry.hpp"

// What the functions of the tool information interface share (MPI 3.1, 14.3). None of them calls an error
// handler.

struct MPIR_T_cvar_handle_s {
  const llamada::mpi::tool_information::ControlVariable* variable;
};

struct MPIR_T_pvar_handle_s {
  const llamada::mpi::tool_information::PerformanceVariable* variable;
  MPI_T_pvar_session session;
  bool running;
  std::uint64_t counted;     ///< counters: until the last stop
  std::uint64_t started_at;  ///< what the variable was at the last start
};

struct MPIR_T_pvar_session_s {
  std::unordered_set<MPI_T_pvar_handle> handles;
};

namespace llamada::mpi::tool_information {

/// One for the process. Whoever looks at it, or reads or writes a variable, has `mutex`.
struct Interface {
  std::mutex mutex;
  int users = 0;  ///< MPI_T_init_thread less MPI_T_finalize
  std::unordered_set<MPI_T_cvar_handle> control_handles;
  std::unordered_set<MPI_T_pvar_session> sessions;
};
Interface& interface();

/// Between MPI_T_init_thread and MPI_T_finalize, one thread at a time.
///
/// Where several threads may call MPI it takes the library's lock, too, and first: some variables need it.
class Scope {
 public:
  Scope() {
    Runtime* runtime = runtime_seen_by_any_thread();
    library_ = runtime ? runtime->lock.get() : nullptr;
    if (library_) library_->lock();
    interface().mutex.lock();
  }
  ~Scope() {
    interface().mutex.unlock();
    if (library_) library_->unlock();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  static bool is_open() { return interface().users > 0; }

 private:
  LibraryLock* library_;
};

/// Copies a text as 14.3.3 has it: `length` is the room, and becomes what the text needs with its NUL.
void give_text(const char* text, char* to, int* length);

template <typename T>
void give(T* to, T value) {
  if (to) *to = value;
}

template <typename Table>
bool has(const Table& table, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < table.size();
}

template <typename Table>
int find_name(const Table& table, const char* name, int* index) {
  if (!name || !index) return MPI_T_ERR_INVALID;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (std::string_view(table[i].name) != name) continue;
    *index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

}  // namespace llamada::mpi::tool_information

/// The first line of each function but MPI_T_init_thread.
#define LLAMADA_TOOL_ENTER()                                     \
  const ::llamada::mpi::tool_information::Scope interface_scope; \
  if (!::llamada::mpi::tool_information::Scope::is_open()) return MPI_T_ERR_NOT_INITIALIZED
