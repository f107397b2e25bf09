#include "store_conformance.hpp"

#include "llamada/store/memory_store.hpp"
#include "llamada/store/segment_store.hpp"
#include "llamada/store_sqlite/sqlite_store.hpp"
#include "temporary_folder.hpp"

using namespace llamada;
using namespace llamada::store;

namespace {
constexpr std::uint64_t batch_bytes_max = 64 << 10;
}

TEST_CASE("stores: one in memory", "[conformance]") {
  conformance::check_store({.open = [] { return make_memory_store(batch_bytes_max); },
                            .survives = false,
                            .batch_bytes_max = batch_bytes_max});
}

TEST_CASE("stores: one of segments", "[conformance]") {
  const test::TemporaryFolder folder;
  conformance::check_store({.open =
                                [&] {
                                  auto opened = open_segment_store(
                                      folder / "store",
                                      {.segment_bytes = 4 * batch_bytes_max,
                                       .batch_bytes_max = batch_bytes_max,
                                       .say = [](std::string_view sentence) { FAIL(sentence); }});
                                  if (!opened) FAIL(opened.error().text());
                                  return std::move(*opened);
                                },
                            .survives = true,
                            .batch_bytes_max = batch_bytes_max});
}

TEST_CASE("stores: one in SQLite", "[conformance]") {
  const test::TemporaryFolder folder;
  conformance::check_store({.open =
                                [&] {
                                  auto opened = open_sqlite_store(
                                      folder / "store",
                                      {.batch_bytes_max = batch_bytes_max,
                                       .say = [](std::string_view sentence) { FAIL(sentence); }});
                                  if (!opened) FAIL(opened.error().text());
                                  return std::move(*opened);
                                },
                            .survives = true,
                            .batch_bytes_max = batch_bytes_max});
}
