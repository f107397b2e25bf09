#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "object/attribute.hpp"
#include "object/error_handler.hpp"
#include "object/group.hpp"
#include "object/handle.hpp"
#include "object/info.hpp"
#include "object/reference.hpp"
#include "rma/batch.hpp"
#include "rma/control.hpp"
#include "rma/kept_segments.hpp"
#include "runtime/errors.hpp"

namespace llamada::mpi {

/// What one member shows in a window, as it has said when the window was made.
struct WindowMember {
  std::uint64_t base =
      0;  ///< its address in that process; 0 of a dynamic window: displacements are addresses
  std::uint64_t size_bytes = 0;
  int displacement_unit = 1;
  std::int32_t pid = 0;       ///< as the kernel knows it
  int slot = 0;               ///< rank in the job, to be woken
  std::byte* here = nullptr;  ///< where the memory lies in this process; null: only through the kernel
};

/// What a rank may do with a window now (MPI 3.1, 11.5): with which targets it may communicate, and to whom
/// it has exposed its own memory.
struct Epochs {
  enum class Access : std::uint8_t {
    none,
    fence_open,  ///< a fence was called: what comes next tells whether it has opened an epoch
    fence,       ///< something was done in it
    start,
    lock,
    lock_all,
  };
  enum class Lock : std::uint8_t { none, shared, exclusive, unchecked };

  Access access = Access::none;
  bool posted = false;           ///< an exposure by MPI_Win_post
  std::vector<int> started;      ///< ranks of MPI_Win_start's group
  std::vector<int> exposed_to;   ///< ranks of MPI_Win_post's group
  std::vector<bool> is_started;  ///< by rank
  std::vector<Lock> locks;       ///< by rank
  int lock_count = 0;
  // How often, by rank of the partner: what PairCounters is compared with.
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> exposures;
};

/// A window (MPI 3.1, 11.2): the memory that each member of a group shows to the others, the words in shared
/// memory by which they synchronise, and what this rank is doing with it.
///
/// Communication is done by the origin alone. Through memory that both have mapped it takes effect in the
/// call itself; so it does through the kernel (process_vm_readv), but for small operations, which are
/// recorded in the target's batch() and carried out before the origin's next synchronisation is over.
class Window : public Counted {
 public:
  Window(int flavor, Reference<Group> group, std::vector<WindowMember> members, rma::WindowSegment segment,
         Reference<ErrorHandler> error_handler);

  int flavor() const { return flavor_; }
  int size() const { return group_->size(); }
  int rank() const { return group_->rank(); }
  const Reference<Group>& group() const { return group_; }
  const std::vector<WindowMember>& members() const { return members_; }
  const WindowMember& member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  const WindowMember& self() const { return member(rank()); }
  bool is_dynamic() const { return flavor_ == MPI_WIN_FLAVOR_DYNAMIC; }
  const rma::Control& control() const { return control_; }
  /// Takes the segment away: nothing is done with the window any more.
  rma::WindowSegment take_segment() { return std::move(segment_); }
  Epochs& epochs() { return epochs_; }
  /// What this rank has recorded for a target, and not carried out yet.
  rma::Batch& batch(int rank) { return batches_[static_cast<std::size_t>(rank)]; }
  /// True for one call of many: those that may be a program's way to wait.
  bool time_to_serve() {
    constexpr unsigned calls_between = 16;
    return ++calls_ % calls_between == 0;
  }

  MPI_Win handle() const { return handle_; }
  void set_handle(MPI_Win handle) { handle_ = handle; }
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  /// For messages: its name, or "a window of 4 ranks".
  std::string description() const;
  const Reference<ErrorHandler>& error_handler() const { return error_handler_; }
  void set_error_handler(Reference<ErrorHandler> handler) { error_handler_ = std::move(handler); }
  Attributes& attributes() { return attributes_; }
  Info& info() { return *info_; }

  /// The value of a predefined attribute (11.2.6) as MPI_Win_get_attr gives it; nothing for another key.
  std::optional<void*> predefined_attribute(int keyval);

 private:
  int flavor_;
  Reference<Group> group_;
  std::vector<WindowMember> members_;
  rma::WindowSegment segment_;
  rma::Control control_;
  Reference<ErrorHandler> error_handler_;
  Epochs epochs_;
  std::vector<rma::Batch> batches_;
  unsigned calls_ = 0;
  MPI_Win handle_ = MPI_WIN_NULL;
  std::string name_;
  Attributes attributes_;
  Reference<Info> info_;
  // What attributes point to.
  MPI_Aint own_size_ = 0;
  int own_unit_ = 1;
  int model_ = MPI_WIN_UNIFIED;
};

/// As report() and call_error_handler() of runtime/errors.hpp, with the window's error handler.
inline FailedObject failed(const Window& window) {
  return {window.error_handler(), window.handle(), window.description()};
}
inline int report(const Window& window, int error_class, std::string text) {
  return report(failed(window), error_class, std::move(text));
}
inline int call_error_handler(const Window& window, int code) {
  return call_error_handler(failed(window), code);
}

namespace rma {

/// The windows of the process, in the Runtime.
class Windows : public HandleTable<Window, ObjectKind::window> {};

}  // namespace rma

}  // namespace llamada::mpi
