#include "rma/api_common.hpp"
#include "runtime/strings.hpp"

// What a window is, without communication (MPI 3.1, 11.2.6, 11.2.7, 6.8, 8.3).

using namespace llamada::mpi;
using namespace llamada::mpi::rma;

LLAMADA_MPI_FUNCTION(Win_get_group)
int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  LLAMADA_MPI_ENTER(Win_get_group);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = rma::check_pointer(*window, group, "group")) return code;
  *group = runtime().groups.insert(window->group());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_set_name)
int PMPI_Win_set_name(MPI_Win win, const char* name) {
  LLAMADA_MPI_ENTER(Win_set_name);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = rma::check_pointer(*window, name, "name")) return code;
  window->set_name(object_name(name));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_get_name)
int PMPI_Win_get_name(MPI_Win win, char* name, int* name_length) {
  LLAMADA_MPI_ENTER(Win_get_name);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = rma::check_pointer(*window, name, "name")) return code;
  if (int code = rma::check_pointer(*window, name_length, "length")) return code;
  give_string(window->name(), name, name_length);
  return MPI_SUCCESS;
}

/// Hints do not change what this library does; those it knows are kept, for MPI_Win_get_info.
LLAMADA_MPI_FUNCTION(Win_set_info)
int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
  LLAMADA_MPI_ENTER(Win_set_info);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  const Info* hints = runtime().infos.find(info);
  if (!hints) return report(*window, MPI_ERR_INFO, "the info object is MPI_INFO_NULL, or was freed");
  for (std::size_t i = 0; i < hints->size(); ++i)
    if (window->info().get(hints->key(i))) window->info().set(hints->key(i), *hints->get(hints->key(i)));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_get_info)
int PMPI_Win_get_info(MPI_Win win, MPI_Info* info) {
  LLAMADA_MPI_ENTER(Win_get_info);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = rma::check_pointer(*window, info, "info")) return code;
  auto copy = make_counted<Info>();
  copy->copy_from(window->info());
  *info = runtime().infos.insert(std::move(copy));
  return MPI_SUCCESS;
}
