// The twin of matmul.c on topics: a master publishes B and strips of A, workers publish strips of C = A x B.
//
// The numbers are integers modulo 2^64, so that the check against a product by one process alone is exact.

#include "../common/farm.hpp"

namespace {

using Numbers = std::vector<std::uint64_t>;

struct Setup {
  std::int32_t master = 0;
  std::int32_t size = 0;
  Numbers b;
};
LLAMADA_TYPE(Setup, LLAMADA_KEY(master), size, b);

struct Strip {
  std::int32_t worker = 0, item = 0;
  Numbers a;
};
LLAMADA_TYPE(Strip, LLAMADA_KEY(worker), LLAMADA_KEY(item), a);

struct Product {
  std::int32_t worker = 0, item = 0;
  Numbers c;
};
LLAMADA_TYPE(Product, worker, LLAMADA_KEY(item), c);

Numbers multiply(const Numbers& a, const Numbers& b, std::size_t size) {
  Numbers c(a.size(), 0);
  for (std::size_t i = 0; i < a.size() / size; i++)
    for (std::size_t k = 0; k < size; k++)
      for (std::size_t j = 0; j < size; j++) c[i * size + j] += a[i * size + k] * b[k * size + j];
  return c;
}

Product compute(const Setup& setup, const Strip& strip) {
  return {0, 0, multiply(strip.a, setup.b, static_cast<std::size_t>(setup.size))};
}

/// Numbers that look like chance, the same in every run.
Numbers matrix(std::size_t size, std::uint64_t seed) {
  Numbers numbers(size * size);
  for (std::uint64_t& each : numbers) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    each = seed;
  }
  return numbers;
}

std::vector<Strip> strips_of(const Numbers& a, std::size_t size, std::size_t strips) {
  std::vector<Strip> work;
  for (std::size_t i = 0; i < strips; i++) {
    const auto row = [&](std::size_t strip) {
      return a.begin() + static_cast<std::ptrdiff_t>(size * strip / strips * size);
    };
    work.push_back({0, static_cast<std::int32_t>(i), Numbers(row(i), row(i + 1))});
  }
  return work;
}

int master(farm::Master<Setup, Strip, Product>& master, int size, int strips) {
  const auto rows = static_cast<std::size_t>(size);
  const Numbers a = matrix(rows, 1), b = matrix(rows, 2);
  Numbers c;
  for (const auto& [item, product] :
       master.run(Setup{0, size, b}, strips_of(a, rows, static_cast<std::size_t>(strips))))
    c.insert(c.end(), product.c.begin(), product.c.end());
  const bool right = c == multiply(a, b, rows);
  std::printf("matmul: a product of %d x %d in %d strips\nmatmul: %s\n", size, size, strips,
              right ? "VERIFIED, every number is right" : "WRONG, a number is not");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = farm::parse("matmul", argc, argv);
  const int size = farm::option(options, "-n", 256), strips = farm::option(options, "-s", 64);
  return farm::run<Setup, Strip, Product>(options, compute,
                                          [&](auto& farm) { return master(farm, size, strips); });
}
