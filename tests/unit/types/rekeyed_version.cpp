#include "llamada/types/typed_support.hpp"
#include "other_version.hpp"

namespace world {
namespace {

struct Outer {
  std::uint16_t number;
};
LLAMADA_TYPE_APPENDABLE(Outer, LLAMADA_KEY(number));

}  // namespace
}  // namespace world

std::uint64_t rekeyed_outer_hash() { return llamada::types::type_support<world::Outer>().descriptor_hash(); }
