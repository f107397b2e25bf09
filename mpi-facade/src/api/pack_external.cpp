#include <string_view>
#include <vector>

#include "object/external32.hpp"
#include "runtime/arguments.hpp"

// MPI 3.1, 4.3: packing in the representation "external32".
using namespace llamada::mpi;

namespace {

int check_representation(const char* representation) {
  if (representation && std::string_view(representation) == "external32") return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_ARG, "the only representation of packed data is \"external32\"");
}

struct ExternalOperands {
  Datatype* type = nullptr;
  std::size_t count = 0;
  std::size_t external_bytes = 0;
};

int find_operands(const char* representation, int count, MPI_Datatype datatype, ExternalOperands& found) {
  if (int code = check_representation(representation)) return code;
  if (int code = check_count(nullptr, count)) return code;
  if (int code = find_committed(nullptr, datatype, found.type)) return code;
  found.count = static_cast<std::size_t>(count);
  found.external_bytes = external32_size(found.type->signature(), found.count);
  return MPI_SUCCESS;
}

int check_room(const ExternalOperands& operands, const void* packed, MPI_Aint size,
               const MPI_Aint* position) {
  if (int code = check_pointer(nullptr, position, "position")) return code;
  if (operands.external_bytes == 0) return MPI_SUCCESS;
  if (int code = check_pointer(nullptr, packed, "packed buffer")) return code;
  if (*position >= 0 && *position <= size &&
      operands.external_bytes <= static_cast<std::size_t>(size - *position))
    return MPI_SUCCESS;
  return report(
      nullptr, MPI_ERR_TRUNCATE,
      fmt::format("{} bytes do not fit at position {} of {}", operands.external_bytes, *position, size));
}

}  // namespace

LLAMADA_MPI_FUNCTION(Pack_external)
int PMPI_Pack_external(const char* representation, const void* in, int in_count, MPI_Datatype datatype,
                       void* out, MPI_Aint out_size, MPI_Aint* position) {
  LLAMADA_MPI_ENTER(Pack_external);
  ExternalOperands operands;
  if (int code = find_operands(representation, in_count, datatype, operands)) return code;
  if (int code = check_buffer(nullptr, in, in_count, *operands.type)) return code;
  if (int code = check_room(operands, out, out_size, position)) return code;
  std::vector<std::byte> native(operands.type->size() * operands.count);
  operands.type->pack(in, operands.count, 0, native);
  const auto converted = to_external32(operands.type->signature(), operands.count, native,
                                       {static_cast<std::byte*>(out) + *position, operands.external_bytes});
  if (!converted) return report(nullptr, MPI_ERR_CONVERSION, converted.error().text());
  *position += static_cast<MPI_Aint>(operands.external_bytes);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Unpack_external)
int PMPI_Unpack_external(const char* representation, const void* in, MPI_Aint in_size, MPI_Aint* position,
                         void* out, int out_count, MPI_Datatype datatype) {
  LLAMADA_MPI_ENTER(Unpack_external);
  ExternalOperands operands;
  if (int code = find_operands(representation, out_count, datatype, operands)) return code;
  if (int code = check_buffer(nullptr, out, out_count, *operands.type)) return code;
  if (int code = check_room(operands, in, in_size, position)) return code;
  std::vector<std::byte> native(operands.type->size() * operands.count);
  from_external32(operands.type->signature(), operands.count,
                  {static_cast<const std::byte*>(in) + *position, operands.external_bytes}, native);
  operands.type->unpack(native, 0, out, operands.count);
  *position += static_cast<MPI_Aint>(operands.external_bytes);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Pack_external_size)
int PMPI_Pack_external_size(const char* representation, int in_count, MPI_Datatype datatype, MPI_Aint* size) {
  LLAMADA_MPI_ENTER(Pack_external_size);
  ExternalOperands operands;
  if (int code = find_operands(representation, in_count, datatype, operands)) return code;
  if (int code = check_pointer(nullptr, size, "size")) return code;
  *size = static_cast<MPI_Aint>(operands.external_bytes);
  return MPI_SUCCESS;
}
