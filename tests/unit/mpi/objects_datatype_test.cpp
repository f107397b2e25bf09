#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "object/type_builder.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"

using namespace llamada::mpi;

namespace {

/// A type as the standard defines it: a list of bytes in order, and bounds. Slow and plain, to compare with.
struct TypeMap {
  std::vector<std::ptrdiff_t> bytes;
  std::ptrdiff_t lower = 0, upper = 0;
  bool marked = false;

  std::ptrdiff_t extent() const { return upper - lower; }
};

struct Sample {
  Reference<Datatype> type;
  TypeMap map;
};

/// Puts copies of maps at displacements, with bounds by the rule of 4.1.6.
class MapBuilder {
 public:
  void place(const TypeMap& inner, std::ptrdiff_t displacement, int count) {
    for (int element = 0; element < count; ++element) {
      const std::ptrdiff_t start = displacement + element * inner.extent();
      for (const std::ptrdiff_t byte : inner.bytes) map_.bytes.push_back(start + byte);
      if (inner.bytes.empty() && !inner.marked) continue;
      bounds_.push_back({start + inner.lower, start + inner.upper, inner.marked});
    }
  }
  TypeMap finish() {
    const bool any_marked =
        std::any_of(bounds_.begin(), bounds_.end(), [](const Bound& bound) { return bound.marked; });
    bool first = true;
    for (const Bound& bound : bounds_) {
      if (any_marked && !bound.marked) continue;
      map_.lower = first ? bound.lower : std::min(map_.lower, bound.lower);
      map_.upper = first ? bound.upper : std::max(map_.upper, bound.upper);
      first = false;
    }
    map_.marked = any_marked;
    return map_;
  }

 private:
  struct Bound {
    std::ptrdiff_t lower, upper;
    bool marked;
  };
  TypeMap map_;
  std::vector<Bound> bounds_;
};

class RandomTypes {
 public:
  explicit RandomTypes(unsigned seed) : random_(seed) {}

  Sample make(int depth) {
    if (depth == 0) return basic();
    switch (number(0, 5)) {
      case 0:
        return contiguous(make(depth - 1));
      case 1:
        return vector(make(depth - 1));
      case 2:
        return indexed(make(depth - 1));
      case 3:
        return structure(depth);
      case 4:
        return resized(make(depth - 1));
      default:
        return subarray(make(depth - 1));
    }
  }
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  Sample basic() {
    constexpr MPI_Datatype handles[] = {MPI_CHAR,   MPI_SHORT,       MPI_INT,
                                        MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_DOUBLE_INT};
    Datatype* type = runtime_.datatypes.find(handles[number(0, 5)]);
    TypeMap map;
    for (const Run& run : type->layout().runs) {
      for (std::size_t byte = 0; byte < run.length; ++byte) {
        map.bytes.push_back(run.offset + static_cast<std::ptrdiff_t>(byte));
      }
    }
    map.upper = type->extent();
    return {Reference<Datatype>(type), map};
  }
  Sample contiguous(Sample old) {
    const int count = number(0, 4);
    MapBuilder builder;
    builder.place(old.map, 0, count);
    return {make_contiguous(count, *old.type), builder.finish()};
  }
  Sample vector(Sample old) {
    const int count = number(0, 4), length = number(0, 3);
    const std::ptrdiff_t stride = number(-40, 60);
    MapBuilder builder;
    for (int block = 0; block < count; ++block) builder.place(old.map, stride * block, length);
    return {make_vector(count, length, stride, *old.type, {}), builder.finish()};
  }
  Sample indexed(Sample old) {
    std::vector<MPI_Count> lengths;
    std::vector<MPI_Aint> displacements;
    MapBuilder builder;
    for (int block = number(2, 4); block > 0; --block) {
      lengths.push_back(number(0, 3));
      displacements.push_back(number(-50, 100));
      builder.place(old.map, displacements.back(), lengths.back());
    }
    return {make_indexed(lengths, displacements, *old.type, {}), builder.finish()};
  }
  Sample structure(int depth) {
    std::vector<Sample> parts;
    std::vector<MPI_Count> lengths;
    std::vector<MPI_Aint> displacements;
    std::vector<Datatype*> types;
    MapBuilder builder;
    for (int block = number(1, 3); block > 0; --block) {
      parts.push_back(make(number(0, depth - 1)));
      lengths.push_back(number(0, 2));
      displacements.push_back(number(-50, 100));
      types.push_back(parts.back().type.get());
      builder.place(parts.back().map, displacements.back(), lengths.back());
    }
    Sample made{make_struct(lengths, displacements, types, {}), builder.finish()};
    // The padding is up to the library; it may only add less than the strictest alignment.
    CHECK(made.type->upper_bound() >= made.map.upper);
    CHECK(made.type->upper_bound() < made.map.upper + 16);
    made.map.upper = made.type->upper_bound();
    return made;
  }
  Sample resized(Sample old) {
    old.map.lower = number(-20, 20);
    old.map.upper = old.map.lower + number(0, 80);
    old.map.marked = true;
    return {make_resized(*old.type, old.map.lower, old.map.extent()), old.map};
  }
  Sample subarray(Sample old) {
    const int sizes[] = {number(1, 4), number(1, 4)};
    const int subsizes[] = {number(1, sizes[0]), number(1, sizes[1])};
    const int starts[] = {number(0, sizes[0] - subsizes[0]), number(0, sizes[1] - subsizes[1])};
    const int order = number(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    const int fast = order == MPI_ORDER_C ? 1 : 0, slow = 1 - fast;
    TypeMap map;
    for (int row = 0; row < subsizes[slow]; ++row) {
      for (int column = 0; column < subsizes[fast]; ++column) {
        const int element = (starts[slow] + row) * sizes[fast] + starts[fast] + column;
        for (const std::ptrdiff_t byte : old.map.bytes)
          map.bytes.push_back(element * old.map.extent() + byte);
      }
    }
    map.upper = sizes[0] * sizes[1] * old.map.extent();
    map.marked = true;
    return {make_subarray(sizes, subsizes, starts, order, *old.type), map};
  }

  Runtime runtime_;
  std::mt19937 random_;
};

/// Memory with room on both sides of the address that the program would give.
struct Memory {
  explicit Memory(std::size_t reach) : bytes(2 * reach), base(bytes.data() + reach) {}
  std::vector<std::byte> bytes;
  std::byte* base;
};

std::size_t reach_of(const TypeMap& map, int count) {
  std::ptrdiff_t reach = 1;
  for (const std::ptrdiff_t byte : map.bytes) reach = std::max({reach, byte + 1, -byte});
  return static_cast<std::size_t>(reach + std::abs(map.extent()) * count);
}

std::vector<std::byte> pack_plainly(const TypeMap& map, const std::byte* base, int count) {
  std::vector<std::byte> packed;
  for (int element = 0; element < count; ++element) {
    for (const std::ptrdiff_t byte : map.bytes) packed.push_back(base[element * map.extent() + byte]);
  }
  return packed;
}

void unpack_plainly(const TypeMap& map, const std::vector<std::byte>& packed, std::byte* base, int count) {
  auto next = packed.begin();
  for (int element = 0; element < count; ++element) {
    for (const std::ptrdiff_t byte : map.bytes) base[element * map.extent() + byte] = *next++;
  }
}

/// Calls `visit(first, size)` for pieces of random sizes that make up the whole.
template <typename Visitor>
void in_pieces(RandomTypes& random, std::size_t whole, Visitor visit) {
  for (std::size_t first = 0; first < whole;) {
    const std::size_t size =
        std::min<std::size_t>(whole - first, static_cast<std::size_t>(random.number(1, 23)));
    visit(first, size);
    first += size;
  }
}

}  // namespace

TEST_CASE("datatype: random nested types pack and unpack in pieces like their type maps", "[mpi][datatype]") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    RandomTypes random(seed);
    const Sample sample = random.make(random.number(0, 3));
    const int count = random.number(0, 3);
    REQUIRE(sample.type->size() == sample.map.bytes.size());
    if (!sample.map.bytes.empty()) {
      REQUIRE(sample.type->lower_bound() == sample.map.lower);
      REQUIRE(sample.type->upper_bound() == sample.map.upper);
      const auto [lowest, highest] = std::minmax_element(sample.map.bytes.begin(), sample.map.bytes.end());
      REQUIRE(sample.type->true_lower_bound() == *lowest);
      REQUIRE(sample.type->true_extent() == *highest + 1 - *lowest);
    }

    Memory source(reach_of(sample.map, count));
    for (std::size_t index = 0; index < source.bytes.size(); ++index) {
      source.bytes[index] = static_cast<std::byte>(random.number(0, 255));
    }
    const std::vector<std::byte> expected = pack_plainly(sample.map, source.base, count);
    std::vector<std::byte> packed(expected.size());
    const auto elements = static_cast<std::size_t>(count);
    in_pieces(random, packed.size(), [&](std::size_t first, std::size_t size) {
      sample.type->pack(source.base, elements, first, {packed.data() + first, size});
    });
    REQUIRE(packed == expected);

    Memory plain(reach_of(sample.map, count)), pieces(reach_of(sample.map, count));
    unpack_plainly(sample.map, expected, plain.base, count);
    in_pieces(random, packed.size(), [&](std::size_t first, std::size_t size) {
      sample.type->unpack({packed.data() + first, size}, first, pieces.base, elements);
    });
    REQUIRE(plain.bytes == pieces.bytes);
  }
}

TEST_CASE("datatype: a vector of any count is one run with a stride", "[mpi][datatype]") {
  Runtime runtime;
  Datatype& type = *runtime.datatypes.find(MPI_DOUBLE);
  const auto column = make_vector(1000000, 1, 800, type, {});
  CHECK(column->layout().runs.size() == 1);
  CHECK(column->size() == 8000000);
  CHECK_FALSE(column->is_contiguous());
}

TEST_CASE("datatype: blocks that touch are contiguous", "[mpi][datatype]") {
  Runtime runtime;
  Datatype& type = *runtime.datatypes.find(MPI_INT);
  CHECK(make_vector(10, 3, 12, type, {})->is_contiguous());
  CHECK(make_contiguous(7, *make_contiguous(3, type))->is_contiguous());
  CHECK_FALSE(make_resized(type, 0, 8)->is_contiguous());
  CHECK(make_contiguous(0, type)->is_contiguous());
}

TEST_CASE("datatype: markers set the bounds, and are inherited", "[mpi][datatype]") {
  Runtime runtime;
  Datatype* types[] = {runtime.datatypes.find(MPI_LB), runtime.datatypes.find(MPI_INT),
                       runtime.datatypes.find(MPI_UB)};
  const MPI_Count lengths[] = {1, 1, 1};
  const MPI_Aint displacements[] = {-4, 0, 20};
  const auto type = make_struct(lengths, displacements, types, {});
  CHECK(type->lower_bound() == -4);
  CHECK(type->extent() == 24);
  CHECK(make_contiguous(2, *type)->extent() == 48);
  CHECK(type->size() == 4);
}

TEST_CASE("datatype: a struct is padded as C does", "[mpi][datatype]") {
  struct Particle {
    double position;
    char kind;
  };
  Runtime runtime;
  Datatype* types[] = {runtime.datatypes.find(MPI_DOUBLE), runtime.datatypes.find(MPI_CHAR)};
  const MPI_Count lengths[] = {1, 1};
  const MPI_Aint displacements[] = {offsetof(Particle, position), offsetof(Particle, kind)};
  CHECK(make_struct(lengths, displacements, types, {})->extent() == sizeof(Particle));
}

TEST_CASE("datatype: basic elements are counted in any number of bytes", "[mpi][datatype]") {
  Runtime runtime;
  Datatype* types[] = {runtime.datatypes.find(MPI_INT), runtime.datatypes.find(MPI_DOUBLE)};
  const MPI_Count lengths[] = {2, 1};
  const MPI_Aint displacements[] = {0, 8};
  const auto inner = make_struct(lengths, displacements, types, {});
  const auto type = make_contiguous(3, *inner);
  const Signature& signature = type->signature();
  CHECK(signature.elements == 9);
  CHECK(signature.elements_in(0) == 0);
  CHECK(signature.elements_in(4) == 1);
  CHECK(signature.elements_in(16) == 3);
  CHECK(signature.elements_in(24) == 5);
  CHECK(signature.elements_in(26) == -1);
  CHECK(signature.elements_in(48) == 9);
}

TEST_CASE("datatype: a type lives as long as it is used", "[mpi][datatype]") {
  Runtime runtime;
  const MPI_Datatype handle = runtime.datatypes.insert(make_contiguous(3, *runtime.datatypes.find(MPI_INT)));
  const Reference<Datatype> in_flight(runtime.datatypes.find(handle));
  runtime.datatypes.erase(handle);
  CHECK(runtime.datatypes.find(handle) == nullptr);
  CHECK(in_flight->size() == 12);
}
