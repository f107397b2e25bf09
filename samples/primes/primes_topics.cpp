// The twin of primes.c on topics: a master publishes ranges of numbers, workers publish the primes that they
// counted.

#include "../common/farm.hpp"
#include "../common/primes.h"

namespace {

struct Setup {
  std::int32_t master = 0;
  std::uint64_t bound = 0;
};
LLAMADA_TYPE(Setup, LLAMADA_KEY(master), bound);

struct Range {
  std::int32_t worker = 0, item = 0;
  std::uint64_t begin = 0, end = 0;
};
LLAMADA_TYPE(Range, LLAMADA_KEY(worker), LLAMADA_KEY(item), begin, end);

struct Found {
  std::int32_t worker = 0, item = 0;
  std::uint64_t count = 0, sum = 0;
};
LLAMADA_TYPE(Found, worker, LLAMADA_KEY(item), count, sum);

Found count(const Setup&, const Range& range) {
  const PrimesFound found = primes_in(range.begin, range.end);
  return {0, 0, found.count, found.sum};
}

std::vector<Range> ranges_of(std::uint64_t bound, int ranges) {
  std::vector<Range> work;
  for (int i = 0; i < ranges; i++)
    work.push_back({0, i, primes_begin_of(bound, ranges, i), primes_begin_of(bound, ranges, i + 1)});
  return work;
}

int master(farm::Master<Setup, Range, Found>& master, std::uint64_t bound, int ranges) {
  PrimesFound all = {0, 0};
  for (const auto& [item, found] : master.run(Setup{0, bound}, ranges_of(bound, ranges))) {
    all.count += found.count;
    all.sum += found.sum;
  }
  const PrimesFound expected = primes_by_sieve(bound);
  const bool right = all.count == expected.count && all.sum == expected.sum;
  std::printf("primes: %llu below %llu, their sum is %llu\nprimes: %s\n",
              static_cast<unsigned long long>(all.count), static_cast<unsigned long long>(bound),
              static_cast<unsigned long long>(all.sum),
              right ? "VERIFIED, a sieve finds the same" : "WRONG, a sieve finds others");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = farm::parse("primes", argc, argv);
  const auto bound = static_cast<std::uint64_t>(farm::option(options, "-n", 2000000, 2));
  const int ranges = farm::option(options, "-r", 64);
  return farm::run<Setup, Range, Found>(options, count,
                                        [&](auto& farm) { return master(farm, bound, ranges); });
}
