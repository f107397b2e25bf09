#include "runtime/arguments.hpp"

// MPI 3.1, 4.2: packing by hand.
using namespace llamada::mpi;

namespace {

struct Operands {
  Communicator* communicator = nullptr;
  Datatype* type = nullptr;
  std::size_t bytes = 0;
};

int find_operands(MPI_Comm comm, MPI_Datatype datatype, int count, const void* buffer, Operands& found) {
  if (int code = find_communicator(comm, found.communicator)) return code;
  if (int code = find_committed(found.communicator, datatype, found.type)) return code;
  if (int code = check_count(found.communicator, count)) return code;
  if (int code = check_buffer(found.communicator, buffer, count, *found.type)) return code;
  found.bytes = found.type->size() * static_cast<std::size_t>(count);
  return MPI_SUCCESS;
}

/// Whether the bytes fit between the position and the end of the packed buffer.
int check_room(const Operands& operands, const void* packed, int packed_size, const int* position) {
  if (int code = check_pointer(operands.communicator, position, "position")) return code;
  if (operands.bytes == 0) return MPI_SUCCESS;
  if (int code = check_pointer(operands.communicator, packed, "packed buffer")) return code;
  const long long room = static_cast<long long>(packed_size) - *position;
  if (*position >= 0 && static_cast<long long>(operands.bytes) <= room) return MPI_SUCCESS;
  return report(
      operands.communicator, MPI_ERR_TRUNCATE,
      fmt::format("{} bytes do not fit at position {} of {}", operands.bytes, *position, packed_size));
}

}  // namespace

LLAMADA_MPI_FUNCTION(Pack)
int PMPI_Pack(const void* in, int in_count, MPI_Datatype datatype, void* out, int out_size, int* position,
              MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Pack);
  Operands operands;
  if (int code = find_operands(comm, datatype, in_count, in, operands)) return code;
  if (int code = check_room(operands, out, out_size, position)) return code;
  operands.type->pack(in, static_cast<std::size_t>(in_count), 0,
                      {static_cast<std::byte*>(out) + *position, operands.bytes});
  *position += static_cast<int>(operands.bytes);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Unpack)
int PMPI_Unpack(const void* in, int in_size, int* position, void* out, int out_count, MPI_Datatype datatype,
                MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Unpack);
  Operands operands;
  if (int code = find_operands(comm, datatype, out_count, out, operands)) return code;
  if (int code = check_room(operands, in, in_size, position)) return code;
  operands.type->unpack({static_cast<const std::byte*>(in) + *position, operands.bytes}, 0, out,
                        static_cast<std::size_t>(out_count));
  *position += static_cast<int>(operands.bytes);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Pack_size)
int PMPI_Pack_size(int in_count, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  LLAMADA_MPI_ENTER(Pack_size);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  Datatype* type = nullptr;
  if (int code = find_datatype(communicator, datatype, type)) return code;
  if (int code = check_count(communicator, in_count)) return code;
  if (int code = check_pointer(communicator, size, "size")) return code;
  const std::size_t bytes = type->size() * static_cast<std::size_t>(in_count);
  *size = if_it_fits<int>(static_cast<MPI_Count>(bytes));
  return MPI_SUCCESS;
}
