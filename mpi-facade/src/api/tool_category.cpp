#include "api/tool_interface.hpp"

// Categories (MPI 3.1, 14.3.8). They never change.

using namespace llamada::mpi;
using namespace llamada::mpi::tool_information;

namespace {

constexpr int top = static_cast<int>(Category::all);

/// Writes the places in `table` of those of a category, at most `length`; gives how many there are.
template <typename Table>
int list_members(const Table& table, int category, int length, int indices[]) {
  int count = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<int>(table[i].category) != category) continue;
    if (indices && count < length) indices[count] = static_cast<int>(i);
    ++count;
  }
  return count;
}

int subcategory_count(int category) {
  return category == top ? static_cast<int>(categories().size()) - 1 : 0;
}

int check_list(int category, int length, const int indices[]) {
  if (!has(categories(), category)) return MPI_T_ERR_INVALID_INDEX;
  return length > 0 && !indices ? MPI_T_ERR_INVALID : MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(T_category_get_num)
int PMPI_T_category_get_num(int* count) {
  LLAMADA_TOOL_ENTER();
  if (!count) return MPI_T_ERR_INVALID;
  *count = static_cast<int>(categories().size());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_category_get_info)
int PMPI_T_category_get_info(int index, char* name, int* name_length, char* description,
                             int* description_length, int* cvar_count, int* pvar_count, int* category_count) {
  LLAMADA_TOOL_ENTER();
  if (!has(categories(), index)) return MPI_T_ERR_INVALID_INDEX;
  const CategoryDescription& category = categories()[static_cast<std::size_t>(index)];
  give_text(category.name, name, name_length);
  give_text(category.description, description, description_length);
  give(cvar_count, list_members(control_variables(), index, 0, nullptr));
  give(pvar_count, list_members(performance_variables(), index, 0, nullptr));
  give(category_count, subcategory_count(index));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_category_get_index)
int PMPI_T_category_get_index(const char* name, int* index) {
  LLAMADA_TOOL_ENTER();
  return find_name(categories(), name, index);
}

LLAMADA_MPI_FUNCTION(T_category_get_cvars)
int PMPI_T_category_get_cvars(int index, int length, int indices[]) {
  LLAMADA_TOOL_ENTER();
  if (const int code = check_list(index, length, indices)) return code;
  list_members(control_variables(), index, length, indices);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_category_get_pvars)
int PMPI_T_category_get_pvars(int index, int length, int indices[]) {
  LLAMADA_TOOL_ENTER();
  if (const int code = check_list(index, length, indices)) return code;
  list_members(performance_variables(), index, length, indices);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_category_get_categories)
int PMPI_T_category_get_categories(int index, int length, int indices[]) {
  LLAMADA_TOOL_ENTER();
  if (const int code = check_list(index, length, indices)) return code;
  for (int i = 0; i < std::min(subcategory_count(index), length); ++i) indices[i] = i + 1;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_category_changed)
int PMPI_T_category_changed(int* stamp) {
  LLAMADA_TOOL_ENTER();
  if (!stamp) return MPI_T_ERR_INVALID;
  *stamp = 1;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_category_get_num_events)
int PMPI_T_category_get_num_events(int index, int* count) {
  LLAMADA_TOOL_ENTER();
  if (!has(categories(), index)) return MPI_T_ERR_INVALID_INDEX;
  give(count, 0);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(T_category_get_events)
int PMPI_T_category_get_events(int index, int length, int indices[]) {
  LLAMADA_TOOL_ENTER();
  return check_list(index, length, indices);
}
