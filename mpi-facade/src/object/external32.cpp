#include "object/external32.hpp"

#include <algorithm>
#include <cstring>

namespace llamada::mpi {
namespace {

/// How one number of a basic type is represented.
struct Form {
  enum class Kind { same, signed_integer, unsigned_integer, long_double };
  Kind kind = Kind::same;
  std::size_t native = 1;
  std::size_t external = 1;
  std::size_t parts = 1;  ///< 2: a complex number
};

Form form_of(MPI_Datatype basic, std::size_t bytes) {
  using Kind = Form::Kind;
  switch (basic) {
    case MPI_LONG:
      return {Kind::signed_integer, 8, 4, 1};
    case MPI_UNSIGNED_LONG:
      return {Kind::unsigned_integer, 8, 4, 1};
    case MPI_WCHAR:
      return {Kind::unsigned_integer, 4, 2, 1};
    case MPI_LONG_DOUBLE:
      return {Kind::long_double, 16, 16, 1};
    case MPI_C_LONG_DOUBLE_COMPLEX:
    case MPI_CXX_LONG_DOUBLE_COMPLEX:
      return {Kind::long_double, 16, 16, 2};
    case MPI_C_FLOAT_COMPLEX:
    case MPI_C_DOUBLE_COMPLEX:
    case MPI_CXX_FLOAT_COMPLEX:
    case MPI_CXX_DOUBLE_COMPLEX:
    case MPI_COMPLEX:
    case MPI_DOUBLE_COMPLEX:
    case MPI_COMPLEX8:
    case MPI_COMPLEX16:
    case MPI_COMPLEX32:
      return {Kind::same, bytes / 2, bytes / 2, 2};
    default:
      return {Kind::same, bytes, bytes, 1};
  }
}

template <typename Visit>
void for_each_basic(const Signature& signature, std::size_t count, const Visit& visit) {
  for (std::size_t element = 0; element < count; ++element)
    for (const Signature::Item& item : signature.items) {
      if (item.inner) {
        for_each_basic(*item.inner, item.count, visit);
      } else {
        const Form form = form_of(item.basic, item.bytes);
        for (std::size_t number = 0; number < item.count * form.parts; ++number) visit(form);
      }
    }
}

/// This machine is little-endian.
void copy_reversed(const std::byte* from, std::byte* to, std::size_t bytes) {
  std::reverse_copy(from, from + bytes, to);
}

/// Whether the bytes that are cut off say nothing: zeros, or the sign again.
bool fits(const Form& form, const std::byte* native) {
  const bool negative = form.kind == Form::Kind::signed_integer &&
                        (native[form.external - 1] & std::byte{0x80}) != std::byte{0};
  const std::byte filler = negative ? std::byte{0xff} : std::byte{0};
  return std::all_of(native + form.external, native + form.native,
                     [&](std::byte byte) { return byte == filler; });
}

void put_number(const Form& form, const std::byte* native, std::byte* external) {
  if (form.kind == Form::Kind::long_double) {
    long double value = 0;
    std::memcpy(&value, native, sizeof value);
    const __float128 quadruple = value;
    return copy_reversed(reinterpret_cast<const std::byte*>(&quadruple), external, sizeof quadruple);
  }
  copy_reversed(native, external, form.external);
}

void take_number(const Form& form, const std::byte* external, std::byte* native) {
  if (form.kind == Form::Kind::long_double) {
    __float128 quadruple = 0;
    copy_reversed(external, reinterpret_cast<std::byte*>(&quadruple), sizeof quadruple);
    const auto value = static_cast<long double>(quadruple);
    std::memcpy(native, &value, sizeof value);
    return;
  }
  copy_reversed(external, native, form.external);
  const bool negative =
      form.kind == Form::Kind::signed_integer && (external[0] & std::byte{0x80}) != std::byte{0};
  std::fill(native + form.external, native + form.native, negative ? std::byte{0xff} : std::byte{0});
}

}  // namespace

std::size_t external32_size(const Signature& signature, std::size_t count) {
  std::size_t bytes = 0;
  for_each_basic(signature, 1, [&](const Form& form) { bytes += form.external; });
  return bytes * count;
}

Status to_external32(const Signature& signature, std::size_t count, std::span<const std::byte> native,
                     std::span<std::byte> external) {
  const std::byte* from = native.data();
  std::byte* to = external.data();
  std::size_t cut = 0;
  for_each_basic(signature, count, [&](const Form& form) {
    cut += form.external < form.native && !fits(form, from);
    put_number(form, from, to);
    from += form.native;
    to += form.external;
  });
  if (cut == 0) return {};
  return failure(Errc::invalid_argument, "{} integer{} too large for what external32 has", cut,
                 cut == 1 ? " is" : "s are");
}

void from_external32(const Signature& signature, std::size_t count, std::span<const std::byte> external,
                     std::span<std::byte> native) {
  const std::byte* from = external.data();
  std::byte* to = native.data();
  for_each_basic(signature, count, [&](const Form& form) {
    take_number(form, from, to);
    from += form.external;
    to += form.native;
  });
}

}  // namespace llamada::mpi
