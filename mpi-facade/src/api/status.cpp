#include "object/status.hpp"

#include "runtime/arguments.hpp"

// MPI 3.1, 3.2.5, 3.8.4, 4.1.11 and 12.3: what a status says.
using namespace llamada::mpi;

namespace {

int check_status(const MPI_Status* status) {
  if (status && status != MPI_STATUS_IGNORE) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_ARG, "the status is missing, or MPI_STATUS_IGNORE");
}

int check_answer(const MPI_Status* status, MPI_Datatype datatype, const void* count, Datatype*& type) {
  if (int code = check_status(status)) return code;
  if (int code = find_datatype(nullptr, datatype, type)) return code;
  return check_pointer(nullptr, count, "count");
}

/// The number of basic elements received; MPI_UNDEFINED when the bytes do not end with one.
MPI_Count count_elements(const MPI_Status& status, const Datatype& type) {
  const std::uint64_t bytes = byte_count(status);
  if (type.size() == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  const Signature& signature = type.signature();
  const std::ptrdiff_t rest = signature.elements_in(bytes % type.size());
  if (rest < 0) return MPI_UNDEFINED;
  return static_cast<MPI_Count>(bytes / type.size() * signature.elements) + rest;
}

/// The number of whole elements; MPI_UNDEFINED when the bytes do not end with one.
MPI_Count count_whole(const MPI_Status& status, const Datatype& type) {
  const std::uint64_t bytes = byte_count(status);
  if (type.size() == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  return bytes % type.size() == 0 ? static_cast<MPI_Count>(bytes / type.size()) : MPI_UNDEFINED;
}

template <MPI_Count (*count_in)(const MPI_Status&, const Datatype&), typename Count>
int give_count(const MPI_Status* status, MPI_Datatype datatype, Count* count) {
  Datatype* type = nullptr;
  if (int code = check_answer(status, datatype, count, type)) return code;
  *count = if_it_fits<Count>(count_in(*status, *type));
  return MPI_SUCCESS;
}

int set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  Datatype* type = nullptr;
  if (int code = check_answer(status, datatype, status, type)) return code;
  if (int code = check_count(nullptr, count)) return code;
  // Elements are basic ones; the bytes of a whole round and of the elements beyond it.
  const Signature& signature = type->signature();
  std::uint64_t bytes = 0;
  if (signature.elements > 0) {
    const auto elements = static_cast<std::uint64_t>(count);
    bytes = elements / signature.elements * signature.bytes;
    for (std::uint64_t rest = elements % signature.elements, more = 0; rest > 0; ++more) {
      if (signature.elements_in(more) == static_cast<std::ptrdiff_t>(rest)) {
        bytes += more;
        break;
      }
    }
  }
  set_byte_count(*status, bytes);
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Get_count)
int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  LLAMADA_MPI_ENTER(Get_count);
  return give_count<count_whole>(status, datatype, count);
}

LLAMADA_MPI_FUNCTION(Get_count_c)
int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  LLAMADA_MPI_ENTER(Get_count_c);
  return give_count<count_whole>(status, datatype, count);
}

LLAMADA_MPI_FUNCTION(Get_elements)
int PMPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  LLAMADA_MPI_ENTER(Get_elements);
  return give_count<count_elements>(status, datatype, count);
}

LLAMADA_MPI_FUNCTION(Get_elements_x)
int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  LLAMADA_MPI_ENTER(Get_elements_x);
  return give_count<count_elements>(status, datatype, count);
}

LLAMADA_MPI_FUNCTION(Get_elements_c)
int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  LLAMADA_MPI_ENTER(Get_elements_c);
  return give_count<count_elements>(status, datatype, count);
}

LLAMADA_MPI_FUNCTION(Status_set_elements)
int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
  LLAMADA_MPI_ENTER(Status_set_elements);
  return set_elements(status, datatype, count);
}

LLAMADA_MPI_FUNCTION(Status_set_elements_x)
int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  LLAMADA_MPI_ENTER(Status_set_elements_x);
  return set_elements(status, datatype, count);
}

LLAMADA_MPI_FUNCTION(Status_set_cancelled)
int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
  LLAMADA_MPI_ENTER(Status_set_cancelled);
  if (int code = check_status(status)) return code;
  set_cancelled(*status, flag != 0);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Test_cancelled)
int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  LLAMADA_MPI_ENTER(Test_cancelled);
  if (int code = check_status(status)) return code;
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  *flag = is_cancelled(*status);
  return MPI_SUCCESS;
}
