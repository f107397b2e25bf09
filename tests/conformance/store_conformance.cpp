#include "store_conformance.hpp"

#include "llamada/store/memory_store.hpp"

using namespace llamada::store;

namespace {
constexpr std::uint64_t batch_bytes_max = 64 << 10;
}

TEST_CASE("stores: one in memory", "[conformance]") {
  conformance::check_store({.open = [] { return make_memory_store(batch_bytes_max); },
                            .survives = false,
                            .batch_bytes_max = batch_bytes_max});
}
