#include <algorithm>

#include "runtime/arguments.hpp"
#include "runtime/strings.hpp"

// MPI 3.1, 6.4.1 and 6.8: what a communicator is, without communication.
using namespace llamada::mpi;

LLAMADA_MPI_FUNCTION(Comm_size)
int PMPI_Comm_size(MPI_Comm comm, int* size) {
  LLAMADA_MPI_ENTER(Comm_size);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, size, "size")) return code;
  *size = communicator->size();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_rank)
int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  LLAMADA_MPI_ENTER(Comm_rank);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, rank, "rank")) return code;
  *rank = communicator->rank();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_compare)
int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  LLAMADA_MPI_ENTER(Comm_compare);
  Communicator *first = nullptr, *second = nullptr;
  if (int code = find_communicator(comm1, first)) return code;
  if (int code = find_communicator(comm2, second)) return code;
  if (int code = check_pointer(first, result, "result")) return code;
  int groups = MPI_UNEQUAL;
  if (first->is_inter() == second->is_inter()) groups = first->group()->compare(*second->group());
  if (groups != MPI_UNEQUAL && first->is_inter()) {
    const int remote = first->remote_group()->compare(*second->remote_group());
    groups = remote == MPI_IDENT || remote == MPI_UNEQUAL ? std::max(groups, remote) : MPI_SIMILAR;
  }
  *result = first == second ? MPI_IDENT : groups == MPI_IDENT ? MPI_CONGRUENT : groups;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_test_inter)
int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  LLAMADA_MPI_ENTER(Comm_test_inter);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, flag, "flag")) return code;
  *flag = communicator->is_inter();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_set_name)
int PMPI_Comm_set_name(MPI_Comm comm, const char* name) {
  LLAMADA_MPI_ENTER(Comm_set_name);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, name, "name")) return code;
  communicator->set_name(object_name(name));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_get_name)
int PMPI_Comm_get_name(MPI_Comm comm, char* name, int* name_length) {
  LLAMADA_MPI_ENTER(Comm_get_name);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, name, "name")) return code;
  if (int code = check_pointer(communicator, name_length, "length")) return code;
  give_string(communicator->name(), name, name_length);
  return MPI_SUCCESS;
}
