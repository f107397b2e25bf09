#include <mpi.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "llamada/base/random.hpp"
#include "object/operation.hpp"
#include "object/type_builder.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"

using namespace llamada::mpi;

namespace {

template <typename T>
T reduce(MPI_Op op, MPI_Datatype datatype, T in, T inout) {
  Runtime runtime;
  const Datatype& type = *runtime.datatypes.find(datatype);
  const Operation& operation = *runtime.operations.find(op);
  REQUIRE(operation.accepts(type));
  operation.apply(&in, &inout, 1, type);
  return inout;
}

bool accepts(MPI_Op op, MPI_Datatype datatype) {
  Runtime runtime;
  return runtime.operations.find(op)->accepts(*runtime.datatypes.find(datatype));
}

struct DoubleInt {
  double value;
  int index;
};

}  // namespace

TEST_CASE("operation: arithmetic on numbers of all kinds", "[mpi][operation]") {
  CHECK(reduce<int>(MPI_SUM, MPI_INT, 3, 4) == 7);
  CHECK(reduce<double>(MPI_PROD, MPI_DOUBLE, 3, 4) == 12);
  CHECK(reduce<std::uint8_t>(MPI_MAX, MPI_UNSIGNED_CHAR, 200, 100) == 200);
  CHECK(reduce<std::int8_t>(MPI_MIN, MPI_SIGNED_CHAR, -56, 100) == -56);
  CHECK(reduce<long double>(MPI_SUM, MPI_LONG_DOUBLE, 1.5L, 2) == 3.5L);
  CHECK(reduce<std::int64_t>(MPI_SUM, MPI_AINT, 1LL << 40, 1) == (1LL << 40) + 1);
  const std::complex<double> product =
      reduce<std::complex<double>>(MPI_PROD, MPI_C_DOUBLE_COMPLEX, {0, 1}, {0, 1});
  CHECK(product == std::complex<double>(-1, 0));
}

TEST_CASE("operation: sums of integers wrap around", "[mpi][operation]") {
  constexpr int highest = std::numeric_limits<int>::max();
  CHECK(reduce<int>(MPI_SUM, MPI_INT, highest, 1) == std::numeric_limits<int>::min());
  CHECK(reduce<short>(MPI_PROD, MPI_SHORT, 300, 300) == static_cast<short>(90000));
}

TEST_CASE("operation: logical and bitwise", "[mpi][operation]") {
  CHECK(reduce<int>(MPI_LAND, MPI_INT, 7, 8) == 1);
  CHECK(reduce<int>(MPI_LXOR, MPI_LOGICAL, 5, 9) == 0);
  CHECK(reduce<bool>(MPI_LOR, MPI_C_BOOL, false, true) == true);
  CHECK(reduce<int>(MPI_BAND, MPI_INT, 6, 3) == 2);
  CHECK(reduce<std::uint8_t>(MPI_BXOR, MPI_BYTE, 0xf0, 0x3c) == 0xcc);
}

TEST_CASE("operation: many elements at once have the bits of one after the other", "[mpi][operation]") {
  Runtime runtime;
  llamada::Random random(20261122);
  constexpr std::size_t bytes_max = 5000;
  for (MPI_Datatype handle :
       {MPI_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG,
        MPI_UNSIGNED_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX})
    for (MPI_Op op :
         {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR}) {
      const Datatype& type = *runtime.datatypes.find(handle);
      const Operation& operation = *runtime.operations.find(op);
      if (!operation.accepts(type)) continue;
      alignas(16) std::array<std::byte, bytes_max> in, together, apart;
      // No bits that are no number: which of two is the result may depend on their order.
      for (std::size_t i = 0; i < bytes_max; ++i) {
        in[i] = static_cast<std::byte>(random.next() & 0x3f);
        together[i] = apart[i] = static_cast<std::byte>(random.next() & 0x3f);
      }
      const std::size_t count = bytes_max / type.size() - 1;
      operation.apply(in.data(), together.data(), count, type);
      for (std::size_t i = 0; i < count; ++i)
        operation.apply(in.data() + i * type.size(), apart.data() + i * type.size(), 1, type);
      CHECK(together == apart);
    }
}

TEST_CASE("operation: of equal extremes the lower index wins", "[mpi][operation]") {
  const DoubleInt least = reduce<DoubleInt>(MPI_MINLOC, MPI_DOUBLE_INT, {2, 5}, {2, 3});
  CHECK(least.index == 3);
  const DoubleInt most = reduce<DoubleInt>(MPI_MAXLOC, MPI_DOUBLE_INT, {7, 5}, {2, 3});
  CHECK((most.value == 7 && most.index == 5));
  const auto pair = reduce<std::array<int, 2>>(MPI_MAXLOC, MPI_2INT, {4, 1}, {4, 2});
  CHECK((pair[0] == 4 && pair[1] == 1));
}

TEST_CASE("operation: what the standard does not define is refused", "[mpi][operation]") {
  CHECK_FALSE(accepts(MPI_BAND, MPI_DOUBLE));
  CHECK_FALSE(accepts(MPI_LAND, MPI_BYTE));
  CHECK(reduce<double>(MPI_LXOR, MPI_DOUBLE, 2.5, 0.0) == 1.0);  // as MPICH has it
  CHECK_FALSE(accepts(MPI_MAX, MPI_C_DOUBLE_COMPLEX));
  CHECK_FALSE(accepts(MPI_SUM, MPI_BYTE));
  CHECK_FALSE(accepts(MPI_SUM, MPI_DOUBLE_INT));
  CHECK_FALSE(accepts(MPI_MINLOC, MPI_INT));
  CHECK_FALSE(accepts(MPI_SUM, MPI_PACKED));
  Runtime runtime;
  const auto derived = make_contiguous(2, *runtime.datatypes.find(MPI_INT));
  CHECK_FALSE(runtime.operations.find(MPI_SUM)->accepts(*derived));
}

TEST_CASE("operation: the program's function gets its datatype", "[mpi][operation]") {
  Runtime runtime;
  auto made = make_contiguous(2, *runtime.datatypes.find(MPI_INT));
  Datatype& type = *made;
  type.set_handle(runtime.datatypes.insert(std::move(made)));
  static MPI_Datatype seen;
  const Operation operation(
      [](void* in, void* inout, int* count, MPI_Datatype* datatype) {
        seen = *datatype;
        for (int index = 0; index < 2 * *count; ++index)
          static_cast<int*>(inout)[index] -= static_cast<int*>(in)[index];
      },
      false);
  const int in[] = {1, 2, 3, 4};
  int inout[] = {10, 10, 10, 10};
  operation.apply(in, inout, 2, type);
  CHECK(inout[3] == 6);
  CHECK(seen == type.handle());
  CHECK_FALSE(operation.commutes());
}
