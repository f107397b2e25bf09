#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/mpi/calls.hpp"
#include "object/attribute.hpp"
#include "object/communicator.hpp"
#include "object/datatype.hpp"
#include "object/error_handler_table.hpp"
#include "object/group.hpp"
#include "object/handle.hpp"
#include "object/info_table.hpp"
#include "object/operation.hpp"
#include "object/session.hpp"
#include "threads/call_state.hpp"

namespace llamada::mpi {

class World;
class Engine;
namespace rma {
class KeptSegments;
class Windows;
}  // namespace rma
namespace coll {
class Collectives;
}
namespace io {
class Files;
}

/// What the handles in the last usual message named, a communicator and a predefined datatype: programs name
/// the same ones again and again.
struct LastNamed {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  std::uint64_t changes = ~std::uint64_t{0};  ///< of the table of communicators then
  Communicator* communicator = nullptr;
  std::size_t type_bytes = 0;  ///< of an element
  Datatype* type = nullptr;
};

/// Error classes and codes that the program has added (MPI 3.1, 8.5), and their texts.
struct AddedErrors {
  struct Entry {
    int error_class;
    std::string text;
  };
  std::vector<Entry> entries;  ///< Code MPI_ERR_LASTCODE + 1 + index.
  int last_used = MPI_ERR_LASTCODE;
};

/// Processes that this one has started or met (MPI 3.1, 10).
struct Spawning {
  MPI_Comm parent = MPI_COMM_NULL;  ///< what MPI_Comm_get_parent gives
  int bridge_count = 0;             ///< connections begun by this process (spawn/bridge.hpp)
  int port_count = 0;               ///< ports that it has opened
};

/// Where the process stands between MPI_Init and its end, and what a call has to do before it begins.
struct Stage {
  // These two are asked by any thread: stored with release order, loaded with acquire order, so that who sees
  // MPI initialised sees what MPI_Init has made.
  std::atomic<bool> initialized{false};  ///< MPI_Init has returned, or is about to.
  std::atomic<bool> finalized{false};
  std::atomic<int> open_sessions{0};
  /// Whether functions of MPI may be called: between MPI_Init and MPI_Finalize, or while a session is open.
  bool is_open() const { return (initialized && !finalized) || open_sessions > 0; }
  /// A call has nothing to do before it begins: is_open(), and no other thread calls MPI.
  /// Written by MPI_Init, and by MPI_Finalize when no other thread may call MPI any more.
  bool plain = false;
  /// Called once when the outermost call ends, if `plain` is false then.
  std::function<void()> at_leave;
};

/// Threads of the program in MPI (12.4).
struct ThreadSupport {
  int level = MPI_THREAD_SINGLE;
  long main = 0;  ///< the kernel's number of the thread that called MPI_Init
};

/// The values of the predefined attributes (8.1.2); pointers to these are what MPI_Comm_get_attr gives.
struct PredefinedAttributes {
  int tag_upper_bound = 0x3fffffff;
  int universe_size = 0;  ///< 0: not known, the attribute is not set
  int application_number = 0;
  int wtime_is_global = 1;
  int survivors_go_on = 0;
  int no_host = MPI_PROC_NULL;
  int io_rank = MPI_ANY_SOURCE;
};

/// What one-sided communication has made.
struct OneSided {
  std::shared_ptr<rma::Windows> windows;             ///< made with the first window
  std::shared_ptr<rma::KeptSegments> kept_segments;  ///< of freed windows; made with the first
};

/// Everything between MPI_Init and the end of the process: the facade's only global state, reached by
/// runtime(). Made by MPI_Init, kept after MPI_Finalize for the functions that are legal then.
///
/// Threads: one at a time: the one that called MPI_Init, or whoever holds `lock`.
struct Runtime : CallState {
  /// The predefined datatypes, operations and the empty group are there from the start;
  /// MPI_COMM_WORLD and MPI_COMM_SELF when add_world() has been called.
  Runtime();
  ~Runtime();

  /// Makes MPI_COMM_WORLD of the `size` slots from `first` on and MPI_COMM_SELF, with these contexts. `rank`
  /// is the caller's slot.
  void add_world(int rank, int size, std::uint32_t world_context, std::uint32_t self_context, int first = 0);
  /// Makes a communicator with a handle: members inherit the error handler of `parent`. The caller must be a
  /// member.
  Communicator* add_communicator(const Communicator& parent, std::uint32_t context, Reference<Group> group);

  Communicator* comm_world() const { return communicators.find(MPI_COMM_WORLD); }
  /// Calls `visit(communicator)` for the predefined ones and then for those that the program has made.
  template <typename Visitor>
  void for_each_communicator(Visitor visit) const {
    for (const MPI_Comm predefined : {MPI_COMM_WORLD, MPI_COMM_SELF})
      if (Communicator* const communicator = communicators.find(predefined)) visit(*communicator);
    communicators.for_each([&](MPI_Comm, Communicator& communicator) { visit(communicator); });
  }
  int rank_in_world() const { return world_rank - world_first; }

  HandleTable<Communicator, ObjectKind::communicator> communicators;
  HandleTable<Group, ObjectKind::group> groups;
  HandleTable<Datatype, ObjectKind::datatype> datatypes;
  HandleTable<Operation, ObjectKind::operation> operations;
  HandleTable<ErrorHandler, ObjectKind::error_handler>& error_handlers =
      error_handler_table();                                  ///< there before MPI_Init, too
  HandleTable<Info, ObjectKind::info>& infos = info_table();  ///< likewise
  HandleTable<Keyval, ObjectKind::keyval>& keyvals = keyval_table();
  HandleTable<Session, ObjectKind::session> sessions;

  AddedErrors added_errors;
  LastNamed last_named;

  int world_rank = 0;   ///< the slot: what groups are made of
  int world_first = 0;  ///< the slot of rank 0 of MPI_COMM_WORLD
  int world_size = 1;   ///< of MPI_COMM_WORLD
  Spawning spawning;
  Stage stage;
  bool is_open() const { return stage.is_open(); }
  ThreadSupport threads;
  PredefinedAttributes attributes;
  std::string processor_name;  ///< Of the first incarnation. Empty: ask the system.

  /// Ends the job with this exit code after saying the text: set by MPI_Init. Until then the text goes to
  /// stderr and the process ends.
  std::function<void(int code, std::string_view text)> end_job;

  World* world = nullptr;    ///< Owned by MPI_Init's composition.
  Engine* engine = nullptr;  ///< Point-to-point: matching, requests, replay.
  coll::Collectives* collectives = nullptr;
  OneSided one_sided;
  std::shared_ptr<io::Files> files;  ///< Made at the first use of a file.
};

namespace detail {
/// Written once by install_runtime.
/// Stored with release order; a thread that may ask while another one is in MPI_Init loads it with acquire
/// order (runtime_seen_by_any_thread), everybody else as it is.
extern Runtime* current_runtime;
}  // namespace detail

/// Null before MPI_Init.
inline Runtime* runtime_if_any() { return detail::current_runtime; }
/// The same for the functions that any thread may call at any time (MPI 3.1, 12.4.3): null also while
/// MPI_Init is at work.
inline Runtime* runtime_seen_by_any_thread() {
  Runtime* runtime = std::atomic_ref(detail::current_runtime).load(std::memory_order_acquire);
  return runtime && runtime->stage.initialized.load(std::memory_order_acquire) ? runtime : nullptr;
}
/// Only after MPI_Init has installed it.
inline Runtime& runtime() { return *detail::current_runtime; }
/// Makes this the process's Runtime; null takes it back (tests). The caller keeps ownership.
void install_runtime(Runtime* runtime);

}  // namespace llamada::mpi
