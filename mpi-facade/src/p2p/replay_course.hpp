#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "p2p/incoming.hpp"
#include "p2p/outgoing.hpp"
#include "p2p/progress.hpp"
#include "p2p/receiving.hpp"
#include "replay/determinants.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

class CallCounter;

/// Of a replacement: how far its replay has come, when it is over, and whether it has diverged
/// (docs/decisions/0021-what-a-replay-must-repeat.md).
///
/// A resumed rank (World::is_resumed()) has a record, but nobody has what it sent: it sends again, takes its
/// outcomes from the record, and is live when that is used up. Its replacement first repeats what it did, as
/// any replacement; then it follows what is left of the record in the same way.
///
/// Threads: the engine's.
class ReplayCourse {
 public:
  /// The references are borrowed. `begins`: the process is a replacement, which has a replay before it.
  struct Parts {
    World& world;
    replay::Determinants& determinants;
    Incoming& incoming;
    Outgoing& outgoing;
    Receiving& receiving;
    Progress& progress;
    bool begins = false;
    bool is_resumed = false;
  };
  explicit ReplayCourse(const Parts& parts);

  /// What else a predecessor did that others may have noticed: each function gives the first thing that has
  /// not been repeated, in words, or nothing. What they borrow must outlive the Engine.
  struct Past {
    std::function<std::string()> contributions;  ///< to collectives
    std::function<std::string()> operations;     ///< on files
    std::function<void()> look_for_damage;       ///< Collectives::look_for_damage()
  };
  void set_past(Past past) { past_ = std::move(past); }
  Past take_past() { return std::move(past_); }
  /// Goes along with the program's calls, which `calls` counts, from the first one on: a predecessor had
  /// begun as many as World::identity() says in a line "calls=N".
  void follow(CallCounter& calls);

  /// The process is a copy that has taken over from its predecessors: a replay begins. Then follow(). The
  /// rank was live when the copy was made, so all that is left of its record is of this life of the job.
  void begin_again() {
    is_on_ = repeats_ = holds_back_ = true;
    in_last_call_ = is_resumed_ = false;
    last_call_ = 0;
  }

  /// Whether the rank is not yet live.
  bool is_on() const { return is_on_; }
  /// Whether nothing has shown yet that no predecessor came further.
  bool repeats() const { return repeats_; }
  /// Whether the rank does what no predecessor has done, with outcomes that are recorded.
  bool follows_record() const { return is_on_ && !holds_back_; }
  /// The same before the last MPI call of the predecessors begins. A signal's handler may ask.
  bool repeats_calls() const { return repeats_ && !in_last_call_; }

  /// Whether a send may be published that no predecessor has made: false while something else goes on. Ends
  /// the replay, or the job where more is to be repeated first.
  bool may_send_new();
  /// Whether a replay has come so far that it may tell others something new that need not come at once, as
  /// what was received, or a contribution to a collective.
  bool may_tell_new();

  /// For a wait: `what` a predecessor was told is waited for; null: no more.
  void set_awaited(const char* what) { awaited_ = what; }
  /// A wait that has found nothing so far: true when there is something after all. Else no predecessor has
  /// come further than this: the replay is over, or has diverged.
  bool waits_in_vain(const std::function<bool()>& done);

  /// MPI_Finalize begins. What the program was told by clocks and files behind it, and what it printed there,
  /// is repeated there.
  void end_of_mpi_begins() { in_last_part_ = true; }
  /// MPI_Finalize, first half: all but contributions to collectives, of which one follows, has been repeated.
  void reach_end();
  /// Behind the last collective: all has.
  void finish() { finish_at("it reaches the end"); }
  /// What follows is another record's, and in other logs: all has been repeated.
  void finish_at_checkpoint() { finish_at("it has taken a checkpoint"); }

  /// Before the replay ends as diverged: that may be the fault of another rank whose wild pointer has written
  /// over what it had sent. Then this names that rank and ends the job.
  void look_for_culprit();
  /// Ends the job: the text of `difference` with the rank and call before it and the likely causes behind it.
  [[noreturn]] void diverged(const std::string& difference);

 private:
  /// Takes all that has come, and does all that follows from it. True when there was something.
  bool drain();
  /// The same when all that predecessors had has come from other nodes: until then it waits.
  void drain_all();
  void await_inputs();
  std::string left_over(bool with_contributions = true);
  std::string left_in_record();
  std::string left_in_logs(bool with_contributions);
  /// The rank does what no predecessor has done, which `here` says.
  void end(std::string_view here, bool with_contributions = true);
  void finish_at(std::string_view here);
  void begin_last_call();
  void end_last_call();
  void tell_over();
  void hold_back_no_longer();
  void look_at_record();
  void look_at_each_call();
  void tell_live();

  World& world_;
  replay::Determinants& determinants_;
  Incoming& incoming_;
  Outgoing& outgoing_;
  Receiving& receiving_;
  Progress& progress_;
  Past past_;
  CallCounter* calls_ = nullptr;
  std::uint64_t last_call_ = 0;  // that a predecessor began
  bool is_on_;
  bool repeats_;
  bool holds_back_;  // what no predecessor has done
  bool is_resumed_;
  bool in_last_call_ = false;  // no predecessor began another call
  bool in_last_part_ = false;  // no call follows that could do anything
  bool draining_ = false;
  const char* awaited_ = nullptr;
};

}  // namespace llamada::mpi
