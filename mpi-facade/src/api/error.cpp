#include "runtime/any_time.hpp"
#include "runtime/arguments.hpp"
#include "runtime/strings.hpp"

// MPI 3.1, 8.4 and 8.5: error classes and codes.
using namespace llamada::mpi;

LLAMADA_MPI_FUNCTION(Error_string)
int PMPI_Error_string(int code, char* text, int* length) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Error_string);
  if (int failed = check_pointer(nullptr, text, "text")) return failed;
  if (int failed = check_pointer(nullptr, length, "length")) return failed;
  give_string(error_text(code).substr(0, MPI_MAX_ERROR_STRING - 1), text, length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Error_class)
int PMPI_Error_class(int code, int* error_class) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Error_class);
  if (int failed = check_pointer(nullptr, error_class, "error class")) return failed;
  *error_class = error_class_of(code);
  return MPI_SUCCESS;
}

namespace {

int add_code(std::optional<int> error_class) {
  AddedErrors& errors = runtime().added_errors;
  const int code = MPI_ERR_LASTCODE + 1 + static_cast<int>(errors.entries.size());
  errors.entries.push_back({error_class.value_or(code), ""});
  errors.last_used = code;
  return code;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Add_error_class)
int PMPI_Add_error_class(int* error_class) {
  LLAMADA_MPI_ENTER(Add_error_class);
  if (int failed = check_pointer(nullptr, error_class, "error class")) return failed;
  *error_class = add_code(std::nullopt);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Add_error_code)
int PMPI_Add_error_code(int error_class, int* code) {
  LLAMADA_MPI_ENTER(Add_error_code);
  if (int failed = check_pointer(nullptr, code, "error code")) return failed;
  if (error_class_of(error_class) != error_class) {
    return report(nullptr, MPI_ERR_ARG, fmt::format("{} is no error class", error_class));
  }
  *code = add_code(error_class);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Add_error_string)
int PMPI_Add_error_string(int code, const char* text) {
  LLAMADA_MPI_ENTER(Add_error_string);
  if (int failed = check_pointer(nullptr, text, "text")) return failed;
  auto& entries = runtime().added_errors.entries;
  const long long index = static_cast<long long>(code) - MPI_ERR_LASTCODE - 1;
  if (index < 0 || index >= static_cast<long long>(entries.size())) {
    return report(nullptr, MPI_ERR_ARG, fmt::format("{} is no error code that was added", code));
  }
  entries[static_cast<std::size_t>(index)].text.assign(text, strnlen(text, MPI_MAX_ERROR_STRING - 1));
  return MPI_SUCCESS;
}
