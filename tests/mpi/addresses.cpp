// A program that lets its answers depend on the addresses of its memory, as one does that sorts pointers.
// These go into messages, so a replay has to find the same ones, whatever the library itself takes and gives
// back meanwhile.
#include <malloc.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int rounds = 60;
constexpr int peers_messages = 12;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

/// Takes and gives back blocks, and folds their addresses.
class Memory {
 public:
  std::uint64_t churn(std::uint64_t hash) {
    for (int i = 0; i < 20; i++) {
      const std::size_t size = 16 + random_() % 400;
      blocks_.emplace_back(std::malloc(size), &std::free);
      hash = mixed(hash, reinterpret_cast<std::uintptr_t>(blocks_.back().get()));
      numbers_.push_back(std::make_unique<std::uint64_t>(hash));
      hash = mixed(hash, reinterpret_cast<std::uintptr_t>(numbers_.back().get()));
      if (random_() % 3 != 0) blocks_.erase(blocks_.begin() + static_cast<long>(random_() % blocks_.size()));
      if (random_() % 3 != 0) numbers_.pop_back();
    }
    return hash;
  }

 private:
  std::minstd_rand random_{1};
  std::vector<std::unique_ptr<void, decltype(&std::free)>> blocks_;
  std::vector<std::unique_ptr<std::uint64_t>> numbers_;
};

/// Texts of errors are the library's: how many there are may differ between a rank and its replacement.
bool mistakes_take_memory() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Bcast(nullptr, -1, MPI_INT, 0, MPI_COMM_WORLD);  // libc notes that there is a last text
  const std::size_t before = mallinfo2().uordblks;
  const int mistakes[] = {MPI_Send(nullptr, 0, MPI_INT, 99, 0, MPI_COMM_WORLD),
                          MPI_Send(nullptr, -1, MPI_INT, 0, 0, MPI_COMM_WORLD),
                          MPI_Bcast(nullptr, 1, MPI_INT, 99, MPI_COMM_WORLD)};
  const std::size_t after = mallinfo2().uordblks;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  for (const int code : mistakes)
    if (code == MPI_SUCCESS) return true;
  return before != after;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // The library has a heap of its own where histories are kept.
  if (std::getenv("LLAMADA_RECORD") && mistakes_take_memory()) {
    std::fprintf(stderr, "addresses: errors take memory of the program's heap\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  Memory memory;
  std::uint64_t hash = 0, sum = 0;
  for (int round = 0; round < rounds; round++) {
    // Many receives under way, their messages in an order that only the record tells.
    std::vector<MPI_Request> requests;
    std::vector<std::uint64_t> in(static_cast<std::size_t>(peers_messages * (ranks - 1)));
    for (auto& value : in) {
      requests.emplace_back();
      MPI_Irecv(&value, 1, MPI_UINT64_T, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &requests.back());
    }
    hash = memory.churn(hash);
    const std::vector<std::uint64_t> out(peers_messages, hash);
    for (int peer = 0; peer < ranks; peer++)
      for (int i = 0; peer != rank && i < peers_messages; i++) {
        requests.emplace_back();
        MPI_Isend(&out[static_cast<std::size_t>(i)], 1, MPI_UINT64_T, peer, round, MPI_COMM_WORLD,
                  &requests.back());
      }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto value : in) sum = mixed(sum, value);
    // What was received decides what is taken next, too.
    if (sum % 2 == 0) hash = memory.churn(hash);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("ok addresses\n");
  MPI_Finalize();
}
