#include "rma/api_common.hpp"
#include "rma/create.hpp"
#include "runtime/arguments.hpp"

// Making and freeing windows (MPI 3.1, 11.2).

namespace {

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::rma;

/// What all functions that make a window begin with.
struct Making {
  Communicator* communicator = nullptr;
  WindowRequest request;
  const Info* info = nullptr;  ///< null: MPI_INFO_NULL
};

int find_making(int flavor, MPI_Info info, MPI_Comm comm, const MPI_Win* win, Making& making) {
  if (int code = find_intracommunicator(comm, making.communicator)) return code;
  if (int code = mpi::check_pointer(making.communicator, win, "window")) return code;
  making.request.flavor = flavor;
  if (info == MPI_INFO_NULL) return MPI_SUCCESS;
  making.info = runtime().infos.find(info);
  return making.info ? MPI_SUCCESS
                     : report(making.communicator, MPI_ERR_INFO, "the info object was freed, or is none");
}

int check_size(Making& making, MPI_Aint size, int displacement_unit) {
  if (size < 0)
    return report(making.communicator, MPI_ERR_SIZE,
                  fmt::format("the size is {}, it must not be negative", size));
  if (displacement_unit <= 0)
    return report(making.communicator, MPI_ERR_DISP,
                  fmt::format("the displacement unit is {}, it must be positive", displacement_unit));
  making.request.size_bytes = static_cast<std::size_t>(size);
  making.request.displacement_unit = displacement_unit;
  return MPI_SUCCESS;
}

/// The hints that this library knows, as it takes them (11.2.1, 11.2.3).
void keep_hints(Window& window, const Info* given) {
  for (const char* key : {"no_locks", "accumulate_ordering", "accumulate_ops", "same_size", "same_disp_unit",
                          "alloc_shared_noncontig"}) {
    const bool is_shared = window.flavor() == MPI_WIN_FLAVOR_SHARED;
    if (std::string_view(key) == "alloc_shared_noncontig" && !is_shared &&
        window.flavor() != MPI_WIN_FLAVOR_ALLOCATE)
      continue;
    const char* usual = std::string_view(key) == "accumulate_ordering" ? "rar,raw,war,waw"
                        : std::string_view(key) == "accumulate_ops"    ? "same_op_no_op"
                                                                       : "false";
    const auto value = given ? given->get(key) : std::nullopt;
    window.info().set(key, value.value_or(usual));
  }
}

int make(Making& making, MPI_Win* win, Window** made = nullptr) {
  *win = MPI_WIN_NULL;
  auto window = make_window(*making.communicator, making.request);
  if (!window) return report(making.communicator, window.error());
  keep_hints(**window, making.info);
  *win = (*window)->handle();
  if (made) *made = *window;
  return MPI_SUCCESS;
}

bool wants_gaps(const Info* info) {
  const auto value = info ? info->get("alloc_shared_noncontig") : std::nullopt;
  return value && *value == "true";
}

int allocate(Making& making, MPI_Aint size, int displacement_unit, void* base_pointer, MPI_Win* win) {
  if (int code = check_size(making, size, displacement_unit)) return code;
  if (int code = mpi::check_pointer(making.communicator, base_pointer, "base pointer")) return code;
  making.request.contiguous = !wants_gaps(making.info);
  Window* made = nullptr;
  if (int code = make(making, win, &made)) return code;
  *static_cast<void**>(base_pointer) = made->self().here;
  return MPI_SUCCESS;
}

int check_dynamic(Window& window) {
  if (window.is_dynamic()) return MPI_SUCCESS;
  return report(window, MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic");
}

/// The rank that MPI_Win_shared_query means: for MPI_PROC_NULL the first with memory (11.2.3).
int queried(const Window& window, int rank) {
  if (rank != MPI_PROC_NULL) return rank;
  for (int first = 0; first < window.size(); ++first)
    if (window.member(first).size_bytes > 0) return first;
  return MPI_PROC_NULL;
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Win_create)
int PMPI_Win_create(void* base, MPI_Aint size, int displacement_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win* win) {
  LLAMADA_MPI_ENTER(Win_create);
  Making making;
  if (int code = find_making(MPI_WIN_FLAVOR_CREATE, info, comm, win, making)) return code;
  if (int code = check_size(making, size, displacement_unit)) return code;
  if (base == nullptr && size > 0)
    return report(making.communicator, MPI_ERR_BASE, "the base is null, but the size is not 0");
  making.request.base = base;
  return make(making, win);
}

LLAMADA_MPI_FUNCTION(Win_allocate)
int PMPI_Win_allocate(MPI_Aint size, int displacement_unit, MPI_Info info, MPI_Comm comm, void* base_pointer,
                      MPI_Win* win) {
  LLAMADA_MPI_ENTER(Win_allocate);
  Making making;
  if (int code = find_making(MPI_WIN_FLAVOR_ALLOCATE, info, comm, win, making)) return code;
  return allocate(making, size, displacement_unit, base_pointer, win);
}

LLAMADA_MPI_FUNCTION(Win_allocate_shared)
int PMPI_Win_allocate_shared(MPI_Aint size, int displacement_unit, MPI_Info info, MPI_Comm comm,
                             void* base_pointer, MPI_Win* win) {
  LLAMADA_MPI_ENTER(Win_allocate_shared);
  Making making;
  if (int code = find_making(MPI_WIN_FLAVOR_SHARED, info, comm, win, making)) return code;
  return allocate(making, size, displacement_unit, base_pointer, win);
}

LLAMADA_MPI_FUNCTION(Win_shared_query)
int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* displacement_unit, void* base_pointer) {
  LLAMADA_MPI_ENTER(Win_shared_query);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (window->flavor() != MPI_WIN_FLAVOR_SHARED)
    return report(*window, MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_allocate_shared");
  if (int code = check_target(*window, rank)) return code;
  if (int code = rma::check_pointer(*window, size, "size")) return code;
  if (int code = rma::check_pointer(*window, displacement_unit, "displacement unit")) return code;
  if (int code = rma::check_pointer(*window, base_pointer, "base pointer")) return code;
  const int found = queried(*window, rank);
  const WindowMember nobody;
  const WindowMember& member = found == MPI_PROC_NULL ? nobody : window->member(found);
  *size = static_cast<MPI_Aint>(member.size_bytes);
  *displacement_unit = member.displacement_unit;
  *static_cast<void**>(base_pointer) = member.size_bytes > 0 ? member.here : nullptr;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_create_dynamic)
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  LLAMADA_MPI_ENTER(Win_create_dynamic);
  Making making;
  if (int code = find_making(MPI_WIN_FLAVOR_DYNAMIC, info, comm, win, making)) return code;
  return make(making, win);
}

LLAMADA_MPI_FUNCTION(Win_attach)
int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  LLAMADA_MPI_ENTER(Win_attach);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = check_dynamic(*window)) return code;
  if (size < 0) return report(*window, MPI_ERR_SIZE, fmt::format("the size is {}", size));
  if (base == nullptr && size > 0)
    return report(*window, MPI_ERR_BASE, "the base is null, but the size is not 0");
  if (!attach(window->control().regions(window->rank()), reinterpret_cast<std::uint64_t>(base),
              static_cast<std::uint64_t>(size)))
    return report(*window, MPI_ERR_RMA_ATTACH, "some of this memory is attached already");
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_detach)
int PMPI_Win_detach(MPI_Win win, const void* base) {
  LLAMADA_MPI_ENTER(Win_detach);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = check_dynamic(*window)) return code;
  if (!detach(window->control().regions(window->rank()), reinterpret_cast<std::uint64_t>(base)))
    return report(*window, MPI_ERR_RMA_ATTACH, "no memory that begins there is attached");
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_free)
int PMPI_Win_free(MPI_Win* win) {
  LLAMADA_MPI_ENTER(Win_free);
  if (int code = mpi::check_pointer(nullptr, win, "window")) return code;
  Window* window = nullptr;
  if (int code = find_window(*win, window)) return code;
  if (int code = report_fault(*window, may_free(*window))) return code;
  if (int code = window->attributes().remove_all(*win)) return call_error_handler(*window, code);
  // What comes behind the last fence is complete when the window ends.
  const int code = report_status(*window, carry_out(*window));
  // All have done with what this rank shows.
  meet(*window);
  keep_segment(*window);
  runtime().one_sided.windows->erase(*win);
  *win = MPI_WIN_NULL;
  return code;
}

}  // extern "C"
