#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "event_loop.hpp"
#include "llamada/waits/judge.hpp"
#include "node_messages.hpp"

namespace llamada::launcher {

/// Finds deadlocks of a job, and answers who waits for whom. It asks ranks that have been quiet what they
/// wait for. If their answers look like a deadlock, it asks once more. waits::judge() decides.
///
/// One thread, the coordinator's.
class WaitWatch {
 public:
  /// What the coordinator does for it.
  struct Actions {
    std::function<void(std::uint64_t question)> ask;                            ///< the node; take() follows
    std::function<void(std::uint64_t question, std::uint32_t slot)> ask_stack;  ///< the same
    std::function<std::string(std::uint32_t slot)> name_of;                     ///< "rank 3"
    /// Called once for each set of ranks that can never go on.
    std::function<void(const waits::Survey&, const waits::Verdict&)> on_deadlock;
  };
  using Told = std::function<void(const waits::Survey&)>;

  /// `loop` is borrowed.
  WaitWatch(EventLoop& loop, Actions actions) : loop_(loop), actions_(std::move(actions)) {}

  /// Ranks have slept in the same calls for a while.
  void quiet();
  /// The answer to a question.
  void take(node::Waits message);
  /// Asks what all ranks wait for, now.
  void survey(Told told);
  /// Asks for the stack of a rank, in lines.
  void stack(std::uint32_t slot, std::function<void(std::string)> told);
  void take(node::Stack message);

 private:
  enum class Stage { idle, first_look, between, second_look };
  static constexpr std::chrono::milliseconds between_looks{100};

  std::uint64_t ask();
  void take_look(waits::Survey survey);
  waits::Survey survey_of(node::Waits message) const;

  EventLoop& loop_;
  Actions actions_;
  Stage stage_ = Stage::idle;
  std::uint64_t last_question_ = 0;
  std::uint64_t last_stack_ = 0;
  std::map<std::uint64_t, std::function<void(std::string)>> stacks_;  // who waits for which answer
  std::vector<Told> told_;  // who waits for the answer to the last question
  waits::Survey first_;
  std::set<std::uint32_t> accused_;  // ranks that have been said to be in a deadlock
};

}  // namespace llamada::launcher
