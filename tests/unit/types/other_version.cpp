#include "other_version.hpp"

#include "llamada/types/typed_support.hpp"

// In anonymous namespaces, which names leave out: two types of one name in one program would break its one
// definition.
namespace world {
namespace {

struct Point {
  std::int16_t x;
  std::int64_t y;
};
LLAMADA_TYPE(Point, y, x);

struct Inner {
  std::uint8_t a;
};
LLAMADA_TYPE_APPENDABLE(Inner, LLAMADA_KEY(a));
struct Outer {
  std::uint16_t number;
  Inner inner;
};
LLAMADA_TYPE_APPENDABLE(Outer, number, LLAMADA_KEY(inner));

}  // namespace
}  // namespace world

using namespace llamada::types;

std::uint64_t other_plain_hash() { return type_support<world::Point>().descriptor_hash(); }
std::size_t other_plain_size() { return type_support<world::Point>().plain_size(); }
std::uint64_t shorter_outer_hash() { return type_support<world::Outer>().descriptor_hash(); }
