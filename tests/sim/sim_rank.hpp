#pragma once

#include <optional>

#include "coll/collectives.hpp"
#include "llamada/log/cuts.hpp"
#include "sim_job.hpp"

namespace llamada::mpi::sim {

inline constexpr std::size_t arena_bytes = std::size_t{64} << 20;
/// Of a rank's outcomes.
inline constexpr log::LogKey journal_key{4, 0};

class EngineWaiter final : public coll::Waiter {
 public:
  explicit EngineWaiter(Engine& engine) : engine_(engine) {}
  void wait_until(const std::function<bool()>& done) override { engine_.wait_until(done); }

 private:
  Engine& engine_;
};

/// What the job has of a rank, and all of its present process.
struct Job::RankState {
  enum class State { ready, sleeping, done, dead };

  Job* job = nullptr;
  int self = 0;
  State state = State::ready;
  std::chrono::nanoseconds sleeps_until{0};
  bool to_die = false;
  std::uint32_t incarnation = 0;
  std::uint64_t calls = 0;  // the most that an incarnation had begun when it died
  std::string identity;
  std::byte* memory = nullptr;
  ucontext_t context;
  bool started = false;
  bool has_finished = false;  // its program
  // Where it receives, whatever its incarnation.
  std::unique_ptr<links::FakeLink> small;
  std::unique_ptr<links::FakeLink> bulk;
  History history;
  std::unique_ptr<log::ArenaWriter> arena;
  std::unique_ptr<SimWorld> world;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<EngineWaiter> waiter;
  std::unique_ptr<coll::Collectives> collectives;
  // What cuts have taken out of its journal, and what the present one has.
  std::vector<log::JournalEntry> kept;
  std::optional<log::CutReader> reader;
  std::optional<log::CutReader::Piece> piece;

  RankState();
  ~RankState();
  void forget();
};

}  // namespace llamada::mpi::sim
