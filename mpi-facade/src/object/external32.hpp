#pragma once

#include <cstddef>
#include <span>

#include "llamada/base/result.hpp"
#include "object/datatype.hpp"

/// The representation "external32" (MPI 3.1, 13.5.2): big-endian, without padding, sizes of its own for some
/// types.
namespace llamada::mpi {

/// The bytes that `count` elements take.
std::size_t external32_size(const Signature& signature, std::size_t count);

/// Converts the packed stream of `count` elements. invalid_argument: an integer (a long, a wchar_t) that does
/// not fit the size it has there. `external` must be as long as external32_size() says, `native` as long as
/// the packed stream.
Status to_external32(const Signature& signature, std::size_t count, std::span<const std::byte> native,
                     std::span<std::byte> external);
void from_external32(const Signature& signature, std::size_t count, std::span<const std::byte> external,
                     std::span<std::byte> native);

}  // namespace llamada::mpi
