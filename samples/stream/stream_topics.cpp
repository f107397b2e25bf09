// The twin of stream.c on topics: a master publishes blocks of numbers, workers publish STREAM's triad of
// theirs.

#include "../common/farm.hpp"
#include "../common/stream.h"

namespace {

struct Setup {
  std::int32_t master = 0;
  std::int32_t size = 0;
};
LLAMADA_TYPE(Setup, LLAMADA_KEY(master), size);

struct Block {
  std::int32_t worker = 0, item = 0;
  std::vector<double> first, second;
};
LLAMADA_TYPE(Block, LLAMADA_KEY(worker), LLAMADA_KEY(item), first, second);

struct Triad {
  std::int32_t worker = 0, item = 0;
  std::vector<double> values;
};
LLAMADA_TYPE(Triad, worker, LLAMADA_KEY(item), values);

Triad compute(const Setup& setup, const Block& block) {
  Triad triad{0, 0, std::vector<double>(static_cast<std::size_t>(setup.size))};
  stream_triad(block.first.data(), block.second.data(), triad.values.data(), triad.values.size());
  return triad;
}

std::vector<Block> blocks_of(int blocks, int size) {
  const auto numbers = static_cast<std::size_t>(size);
  std::vector<Block> work;
  for (int i = 0; i < blocks; i++) {
    work.push_back({0, i, std::vector<double>(numbers), std::vector<double>(numbers)});
    stream_fill(i, work.back().first.data(), work.back().second.data(), numbers);
  }
  return work;
}

int master(farm::Master<Setup, Block, Triad>& master, int blocks, int size) {
  const auto work = blocks_of(blocks, size);
  const auto begin = farm::now();
  bool right = true;
  for (const auto& [item, triad] : master.run(Setup{0, size}, work))
    right = right && triad.values.size() == static_cast<std::size_t>(size) &&
            stream_is_right(item, triad.values.data(), triad.values.size()) != 0;
  std::fprintf(stderr, "stream: %.0f MB/s\n",
               3e-6 * sizeof(double) * blocks * size / farm::seconds_since(begin));
  std::printf("stream: %d blocks of %d numbers\nstream: %s\n", blocks, size,
              right ? "VERIFIED, every number is right" : "WRONG, a number is not");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = farm::parse("stream", argc, argv);
  const int blocks = farm::option(options, "-b", 400), size = farm::option(options, "-n", 65536);
  return farm::run<Setup, Block, Triad>(options, compute,
                                        [&](auto& farm) { return master(farm, blocks, size); });
}
