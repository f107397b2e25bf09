#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
#include "session/session.hpp"
#include "threads/library_lock.hpp"
#include "threads/shared_waiting.hpp"

namespace llamada::mpi {

class World;
class Engine;
class Window;
namespace rma {
class KeptSegments;
}
namespace coll {
class Collectives;
}
namespace io {
class Files;
}

/// The MPI call that the rank is in, and how many it has begun; published for those who watch the rank. Each
/// word is written by this rank alone and read by others without order.
///
/// Threads: one at a time. Where several may call MPI, the current call is that of the one that holds the
/// lock.
class CallCounter {
 public:
  /// Publishes to these words of the arena from now on; they must outlive the counter.
  void publish_to(std::atomic<std::uint32_t>* id, std::atomic<std::uint64_t>* index) {
    published_id_ = id;
    published_index_ = index;
  }
  /// Calls `action` when the `index`th call (from 1) begins, after it has been published. Of several actions
  /// for one call the one given first comes first.
  void watch(std::uint64_t index, std::function<void()> action);
  /// Calls `attend` when the next call begins, and then at the call that it gives (never: no_call), or when
  /// the call after interrupt() begins.
  void attend(std::function<std::uint64_t()> attend) {
    attend_ = std::move(attend);
    interrupt();
  }
  static constexpr std::uint64_t no_call = ~std::uint64_t{0};
  /// A handler of a signal may call this.
  void interrupt() {
    interrupted_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    watched_.store(0, std::memory_order_relaxed);
  }

  CallId current() const { return current_; }
  std::uint64_t begun() const { return begun_; }

  /// Begins a call; gives back the one around it (a callback of the program may call MPI), for leave().
  CallId enter(CallId id) {
    const CallId outer = current_;
    current_ = id;
    published_index_->store(++begun_, std::memory_order_relaxed);
    published_id_->store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
    if (begun_ >= watched_.load(std::memory_order_relaxed)) [[unlikely]]
      act();
    return outer;
  }
  void leave(CallId outer) {
    current_ = outer;
    published_id_->store(static_cast<std::uint32_t>(outer), std::memory_order_relaxed);
  }
  /// Whether the call that begins next is the one that is watched.
  bool is_watched_next() const { return begun_ + 1 >= watched_.load(std::memory_order_relaxed); }
  /// Begins a call that calls nobody and is not watched, and ends it: current() stays the one around it.
  void enter_briefly(CallId id) {
    published_index_->store(++begun_, std::memory_order_relaxed);
    published_id_->store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
  }
  void leave_briefly() {
    published_id_->store(static_cast<std::uint32_t>(current_), std::memory_order_relaxed);
  }
  /// Another thread comes in, or a call goes on after others had their turn: gives back the call until now.
  CallId set_current(CallId id) {
    if (id != CallId::none) published_id_->store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
    return std::exchange(current_, id);
  }

 private:
  struct Watch {
    std::uint64_t index;
    std::function<void()> action;
  };
  void act();
  void look_ahead();

  std::atomic<std::uint32_t> unpublished_id_{0};
  std::atomic<std::uint64_t> unpublished_index_{0};
  std::atomic<std::uint32_t>* published_id_ = &unpublished_id_;
  std::atomic<std::uint64_t>* published_index_ = &unpublished_index_;

  std::uint64_t begun_ = 0;
  // The first call at which there is something to do. Relaxed, as the flag is: a handler of a signal
  // interrupts this thread, or sets both from another thread, which is seen soon enough.
  std::atomic<std::uint64_t> watched_{no_call};
  std::atomic<bool> interrupted_{false};
  std::vector<Watch> watches_;
  std::uint64_t attend_at_ = no_call;
  std::function<std::uint64_t()> attend_;
  CallId current_ = CallId::none;
};

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

/// Everything between MPI_Init and the end of the process: the facade's only global state, reached by
/// runtime(). Made by MPI_Init, kept after MPI_Finalize for the functions that are legal then.
///
/// Threads: one at a time: the one that called MPI_Init, or whoever holds `lock`.
struct Runtime {
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
  int rank_in_world() const { return world_rank - world_first; }

  HandleTable<Communicator, ObjectKind::communicator> communicators;
  HandleTable<Group, ObjectKind::group> groups;
  HandleTable<Datatype, ObjectKind::datatype> datatypes;
  HandleTable<Operation, ObjectKind::operation> operations;
  HandleTable<ErrorHandler, ObjectKind::error_handler>& error_handlers =
      error_handler_table();                                  ///< there before MPI_Init, too
  HandleTable<Info, ObjectKind::info>& infos = info_table();  ///< likewise
  HandleTable<Keyval, ObjectKind::keyval> keyvals;
  HandleTable<Window, ObjectKind::window> windows;
  HandleTable<Session, ObjectKind::session> sessions;

  AddedErrors added_errors;
  CallCounter calls;
  LastNamed last_named;

  int world_rank = 0;               ///< the slot: what groups are made of
  int world_first = 0;              ///< the slot of rank 0 of MPI_COMM_WORLD
  int world_size = 1;               ///< of MPI_COMM_WORLD
  MPI_Comm parent = MPI_COMM_NULL;  ///< what MPI_Comm_get_parent gives
  int bridge_count = 0;             ///< connections begun by this process (spawn/bridge.hpp)
  int port_count = 0;               ///< ports that it has opened
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
  int thread_level = MPI_THREAD_SINGLE;
  long main_thread = 0;  ///< the kernel's number of the thread that called MPI_Init
  /// Null unless MPI_THREAD_MULTIPLE was granted.
  std::unique_ptr<LibraryLock> lock;
  SharedWaiting* waiting = nullptr;  ///< likewise; the Engine's
  /// The values of the predefined attributes (8.1.2); pointers to these are what MPI_Comm_get_attr gives.
  int tag_upper_bound = 0x3fffffff;
  int universe_size = 0;  ///< 0: not known, the attribute is not set
  int application_number = 0;
  int wtime_is_global = 1;
  int no_host = MPI_PROC_NULL;
  int io_rank = MPI_ANY_SOURCE;
  std::string processor_name;  ///< Empty: ask the system.

  /// Ends the job with this exit code after saying the text: set by MPI_Init. Until then the text goes to
  /// stderr and the process ends.
  std::function<void(int code, std::string_view text)> end_job;

  World* world = nullptr;    ///< Owned by MPI_Init's composition.
  Engine* engine = nullptr;  ///< Point-to-point: matching, requests, replay.
  coll::Collectives* collectives = nullptr;
  std::unique_ptr<rma::KeptSegments> kept_segments;  ///< Of freed windows; made with the first.
  std::shared_ptr<io::Files> files;                  ///< Made at the first use of a file.
  /// What MPI_Init made and must go after all objects; destroyed in reverse order.
  std::vector<std::shared_ptr<void>> keep_alive;
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
  return runtime && runtime->initialized.load(std::memory_order_acquire) ? runtime : nullptr;
}
/// Only after MPI_Init has installed it.
inline Runtime& runtime() { return *detail::current_runtime; }
/// Makes this the process's Runtime; null takes it back (tests). The caller keeps ownership.
void install_runtime(Runtime* runtime);

}  // namespace llamada::mpi
