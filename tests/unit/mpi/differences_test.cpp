#include "p2p/differences.hpp"

#include <set>
#include <vector>

#include "llamada/base/random.hpp"
#include "test.hpp"

namespace llamada::mpi {
namespace {

TEST_CASE("differences: the lines that differ, each once and in order, up to so many", "[mpi]") {
  Random random(1);
  for (const std::size_t size : {1UL, 64UL, 65UL, 1000UL, 70'001UL}) {
    const std::size_t lines = (size + Differences::line_bytes - 1) / Differences::line_bytes;
    for (int run = 0; run < 50; ++run) {
      std::vector<std::byte> one(size), other(size);
      std::set<std::uint32_t> changed;
      const std::size_t wanted = random.below(std::min(lines, Differences::lines_max(size) + 3) + 1);
      while (changed.size() < wanted) {
        const std::size_t at = random.below(size);
        other[at] = std::byte{1};
        changed.insert(static_cast<std::uint32_t>(at / Differences::line_bytes));
      }
      Differences differences(size);
      bool few = true;
      constexpr std::size_t part = 4096;
      for (std::size_t begin = 0; begin < size && few; begin += part) {
        const std::size_t bytes = std::min(part, size - begin);
        few = differences.add(std::span(one).subspan(begin, bytes), std::span(other).subspan(begin, bytes),
                              begin);
      }
      CHECK(few == (changed.size() <= Differences::lines_max(size)));
      if (!few) continue;
      const auto found = differences.lines();
      CHECK(std::equal(found.begin(), found.end(), changed.begin(), changed.end()));
      CHECK(differences.empty() == changed.empty());
    }
  }
}

}  // namespace
}  // namespace llamada::mpi
