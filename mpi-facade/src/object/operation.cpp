#include "object/operation.hpp"

#include <algorithm>
#include <climits>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace llamada::mpi {
namespace {

/// Fortran's LOGICAL: an integer, of which 0 is false.
struct Logical {
  std::int32_t value;
  explicit operator bool() const { return value != 0; }
  Logical& operator=(bool truth) {
    value = truth;
    return *this;
  }
};

/// MPI_BYTE: bits only.
enum class Byte : std::uint8_t {};

template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

template <typename T>
inline constexpr bool is_complex = false;
template <typename T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <typename T>
inline constexpr bool is_pair = false;
template <typename Value, typename Index>
inline constexpr bool is_pair<Pair<Value, Index>> = true;
template <typename T>
inline constexpr bool is_truth = std::is_same_v<T, bool> || std::is_same_v<T, Logical>;
template <typename T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
inline constexpr bool is_floating = std::is_floating_point_v<T>;
#ifdef __FLT16_MANT_DIG__  // not for the compiler of the fuzzers
template <>
inline constexpr bool is_floating<_Float16> = true;
#endif

template <typename T, typename Combine>
__attribute__((always_inline)) inline void for_each(const T* left, T* right, std::size_t count,
                                                    Combine combine) {
  for (std::size_t index = 0; index < count; ++index) right[index] = combine(left[index], right[index]);
}

#if defined(__x86_64__)
/// In registers of 32 bytes; without FMA, so that the results are the same bits.
template <typename T, typename Combine>
__attribute__((target("avx2"))) void for_each_by_avx2(const T* left, T* right, std::size_t count,
                                                      Combine combine) {
  for_each(left, right, count, combine);
}
#endif

template <typename T, typename Combine>
void for_all(const void* in, void* inout, std::size_t count, Combine combine) {
  const T* left = static_cast<const T*>(in);
  T* right = static_cast<T*>(inout);
#if defined(__x86_64__)
  constexpr std::size_t worthwhile_bytes = 512;
  if (count * sizeof(T) >= worthwhile_bytes && __builtin_cpu_supports("avx2"))
    return for_each_by_avx2(left, right, count, combine);
#endif
  for_each(left, right, count, combine);
}

/// Integers wrap around instead of being undefined.
template <typename T>
T add(T left, T right) {
  if constexpr (is_integer<T>)
    return static_cast<T>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
  else
    return left + right;
}
template <typename T>
T multiply(T left, T right) {
  if constexpr (is_integer<T>)
    return static_cast<T>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
  else
    return left * right;
}

template <typename T>
constexpr ElementOperation ordered(MPI_Op op) {
  switch (op) {
    case MPI_MAX:
      return [](const void* in, void* inout, std::size_t count) {
        for_all<T>(in, inout, count, [](T left, T right) { return std::max(left, right); });
      };
    case MPI_MIN:
      return [](const void* in, void* inout, std::size_t count) {
        for_all<T>(in, inout, count, [](T left, T right) { return std::min(left, right); });
      };
    default:
      return nullptr;
  }
}

template <typename T>
constexpr ElementOperation arithmetic(MPI_Op op) {
  switch (op) {
    case MPI_SUM:
      return [](const void* in, void* inout, std::size_t count) {
        for_all<T>(in, inout, count, [](T left, T right) { return add(left, right); });
      };
    case MPI_PROD:
      return [](const void* in, void* inout, std::size_t count) {
        for_all<T>(in, inout, count, [](T left, T right) { return multiply(left, right); });
      };
    default:
      return nullptr;
  }
}

template <typename T, typename Combine>
void for_all_truths(const void* in, void* inout, std::size_t count, Combine combine) {
  const T* left = static_cast<const T*>(in);
  T* right = static_cast<T*>(inout);
  for (std::size_t index = 0; index < count; ++index) {
    right[index] = combine(static_cast<bool>(left[index]), static_cast<bool>(right[index]));
  }
}

template <typename T>
constexpr ElementOperation logical(MPI_Op op) {
  switch (op) {
    case MPI_LAND:
      return [](const void* in, void* inout, std::size_t count) {
        for_all_truths<T>(in, inout, count, [](bool left, bool right) { return left && right; });
      };
    case MPI_LOR:
      return [](const void* in, void* inout, std::size_t count) {
        for_all_truths<T>(in, inout, count, [](bool left, bool right) { return left || right; });
      };
    case MPI_LXOR:
      return [](const void* in, void* inout, std::size_t count) {
        for_all_truths<T>(in, inout, count, [](bool left, bool right) { return left != right; });
      };
    default:
      return nullptr;
  }
}

template <typename T>
constexpr ElementOperation bitwise(MPI_Op op) {
  using Bits = std::conditional_t<std::is_enum_v<T>, std::uint8_t, T>;
  switch (op) {
    case MPI_BAND:
      return [](const void* in, void* inout, std::size_t count) {
        for_all<Bits>(in, inout, count,
                      [](Bits left, Bits right) { return static_cast<Bits>(left & right); });
      };
    case MPI_BOR:
      return [](const void* in, void* inout, std::size_t count) {
        for_all<Bits>(in, inout, count,
                      [](Bits left, Bits right) { return static_cast<Bits>(left | right); });
      };
    case MPI_BXOR:
      return [](const void* in, void* inout, std::size_t count) {
        for_all<Bits>(in, inout, count,
                      [](Bits left, Bits right) { return static_cast<Bits>(left ^ right); });
      };
    default:
      return nullptr;
  }
}

/// Of equal values the one with the lower index (5.9.4). Padding of the pair stays as it is.
template <typename T, bool highest>
void choose_pair(const void* in, void* inout, std::size_t count) {
  const T* left = static_cast<const T*>(in);
  T* right = static_cast<T*>(inout);
  for (std::size_t index = 0; index < count; ++index) {
    const bool better =
        highest ? left[index].value > right[index].value : left[index].value < right[index].value;
    if (better) {
      right[index].value = left[index].value;
      right[index].index = left[index].index;
    } else if (left[index].value == right[index].value) {
      right[index].index = std::min(left[index].index, right[index].index);
    }
  }
}

/// What an operation does with elements of T; null when it is not defined for them (5.9.2).
template <typename T>
constexpr ElementOperation function_for(MPI_Op op) {
  ElementOperation found = nullptr;
  if constexpr (is_pair<T>) {
    if (op == MPI_MINLOC) return choose_pair<T, false>;
    if (op == MPI_MAXLOC) return choose_pair<T, true>;
  } else {
    if constexpr (is_integer<T> || is_floating<T>) found = ordered<T>(op);
    if constexpr (is_integer<T> || is_floating<T> || is_complex<T>) {
      if (!found) found = arithmetic<T>(op);
    }
    // Of floating-point numbers, too, as MPICH has it and programs built for it may use.
    if constexpr (is_integer<T> || is_truth<T> || is_floating<T>) {
      if (!found) found = logical<T>(op);
    }
    if constexpr (is_integer<T> || std::is_enum_v<T>) {
      if (!found) found = bitwise<T>(op);
    }
  }
  return found;
}

template <typename T>
constexpr ElementOperations make_operations() {
  ElementOperations all{};
  for (MPI_Op op = MPI_MAX; op <= MPI_MAXLOC; ++op) all.by_operation[op & 0xf] = function_for<T>(op);
  return all;
}
template <typename T>
constexpr ElementOperations operations_for = make_operations<T>();

const ElementOperations* operations_for_pair(MPI_Datatype datatype) {
  switch (datatype) {
    case MPI_2INT:
    case MPI_2INTEGER:
      return &operations_for<Pair<int, int>>;
    case MPI_FLOAT_INT:
      return &operations_for<Pair<float, int>>;
    case MPI_DOUBLE_INT:
      return &operations_for<Pair<double, int>>;
    case MPI_LONG_INT:
      return &operations_for<Pair<long, int>>;
    case MPI_SHORT_INT:
      return &operations_for<Pair<short, int>>;
    case MPI_LONG_DOUBLE_INT:
      return &operations_for<Pair<long double, int>>;
    case MPI_2REAL:
      return &operations_for<Pair<float, float>>;
    case MPI_2DOUBLE_PRECISION:
      return &operations_for<Pair<double, double>>;
    default:
      return nullptr;
  }
}

}  // namespace

const ElementOperations* element_operations(MPI_Datatype datatype) {
  switch (datatype) {
    case MPI_CHAR:
    case MPI_SIGNED_CHAR:
    case MPI_INTEGER1:
    case MPI_INT8_T:
      return &operations_for<std::int8_t>;
    case MPI_UNSIGNED_CHAR:
    case MPI_UINT8_T:
      return &operations_for<std::uint8_t>;
    case MPI_SHORT:
    case MPI_INTEGER2:
    case MPI_INT16_T:
      return &operations_for<std::int16_t>;
    case MPI_UNSIGNED_SHORT:
    case MPI_UINT16_T:
      return &operations_for<std::uint16_t>;
    case MPI_INT:
    case MPI_INTEGER:
    case MPI_INTEGER4:
    case MPI_INT32_T:
      return &operations_for<std::int32_t>;
    case MPI_UNSIGNED:
    case MPI_UINT32_T:
      return &operations_for<std::uint32_t>;
    case MPI_LONG:
    case MPI_LONG_LONG_INT:
    case MPI_INTEGER8:
    case MPI_AINT:
    case MPI_OFFSET:
    case MPI_COUNT:
    case MPI_INT64_T:
      return &operations_for<std::int64_t>;
    case MPI_UNSIGNED_LONG:
    case MPI_UNSIGNED_LONG_LONG:
    case MPI_UINT64_T:
      return &operations_for<std::uint64_t>;
    case MPI_FLOAT:
    case MPI_REAL:
    case MPI_REAL4:
      return &operations_for<float>;
    case MPI_DOUBLE:
    case MPI_DOUBLE_PRECISION:
    case MPI_REAL8:
      return &operations_for<double>;
    case MPI_LONG_DOUBLE:
      return &operations_for<long double>;
#ifdef __FLT16_MANT_DIG__
    case MPIX_C_FLOAT16:
      return &operations_for<_Float16>;
#endif
    case MPI_C_BOOL:
    case MPI_CXX_BOOL:
      return &operations_for<bool>;
    case MPI_LOGICAL:
      return &operations_for<Logical>;
    case MPI_C_FLOAT_COMPLEX:
    case MPI_CXX_FLOAT_COMPLEX:
    case MPI_COMPLEX:
    case MPI_COMPLEX8:
      return &operations_for<std::complex<float>>;
    case MPI_C_DOUBLE_COMPLEX:
    case MPI_CXX_DOUBLE_COMPLEX:
    case MPI_DOUBLE_COMPLEX:
    case MPI_COMPLEX16:
      return &operations_for<std::complex<double>>;
    case MPI_C_LONG_DOUBLE_COMPLEX:
    case MPI_CXX_LONG_DOUBLE_COMPLEX:
      return &operations_for<std::complex<long double>>;
    case MPI_BYTE:
      return &operations_for<Byte>;
    default:
      return operations_for_pair(datatype);
  }
}

const char* Operation::name() const {
  constexpr const char* names[] = {"MPI_OP_NULL", "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
                                   "MPI_LAND",    "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
                                   "MPI_BXOR",    "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};
  return is_predefined() ? names[predefined_ & 0xf] : "a user-defined operation";
}

void Operation::apply_own(const void* in, void* inout, std::size_t count, const Datatype& datatype) const {
  const auto* left = static_cast<const std::byte*>(in);
  auto* right = static_cast<std::byte*>(inout);
  while (count > 0) {
    int piece = static_cast<int>(std::min<std::size_t>(count, INT_MAX));
    MPI_Datatype handle = datatype.handle();
    if (proxy_)
      proxy_(left, right, piece, handle, function_);
    else
      function_(const_cast<std::byte*>(left), right, &piece, &handle);
    const std::ptrdiff_t step = datatype.extent() * piece;
    left += step;
    right += step;
    count -= static_cast<std::size_t>(piece);
  }
}

}  // namespace llamada::mpi
