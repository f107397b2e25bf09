#include "p2p/replay_course.hpp"

#include <sys/single_threaded.h>

#include <thread>

#include "llamada/base/crash_point.hpp"
#include "p2p/describe_rank.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {
namespace {

/// A collective may take one step each time.
constexpr int looks_in_vain = 4;
constexpr std::chrono::milliseconds between_looks_for_culprit{2};

}  // namespace

ReplayCourse::ReplayCourse(const Parts& parts)
    : world_(parts.world),
      determinants_(parts.determinants),
      incoming_(parts.incoming),
      outgoing_(parts.outgoing),
      receiving_(parts.receiving),
      progress_(parts.progress),
      is_on_(parts.begins || parts.is_resumed),
      repeats_(parts.begins),
      holds_back_(parts.begins),
      is_resumed_(parts.is_resumed) {}

void ReplayCourse::look_for_culprit() {
  // A word may be on its way from another core: what is said to be damaged is looked at twice.
  for (int look = 0; look < 2; ++look) {
    if (look > 0) std::this_thread::sleep_for(between_looks_for_culprit);
    incoming_.look_for_damage();
    if (past_.look_for_damage) past_.look_for_damage();
  }
  incoming_.look_for_lost_logs();
}

void ReplayCourse::diverged(const std::string& difference) {
  look_for_culprit();
  world_.diverged(fmt::format(
      "replay diverged: {}: {}; the program is not deterministic beyond what is recorded (uninitialised "
      "memory, threads, rdtsc, files that have changed, ...)",
      describe_rank(world_), difference));
  std::abort();  // Not reached.
}

void ReplayCourse::follow(CallCounter& calls) {
  calls_ = &calls;
  if (follows_record()) look_at_each_call();
  const auto last = identity_number(world_.identity(), "calls");
  if (!repeats_ || !last) return;
  last_call_ = *last;
  calls.watch(last_call_ + 1, [this] {
    drain_all();
    end("it begins an MPI call that its predecessor had not begun");
  });
  if (last_call_ > calls.begun()) return calls.watch(last_call_, [this] { begin_last_call(); });
  in_last_call_ = true;
  world_.reached(left_over().empty() ? ReplayPlace::last_call_ended : ReplayPlace::last_call_begins,
                 __libc_single_threaded);
}

/// What was written before this call, a predecessor had written, too.
void ReplayCourse::begin_last_call() {
  in_last_call_ = true;
  if (!repeats_) return;
  world_.reached(ReplayPlace::last_call_begins, __libc_single_threaded);
  Runtime& self = runtime();
  if (self.lock) return;
  self.stage.at_leave = [this] { end_last_call(); };
  self.stage.plain = false;
}

/// What is written from now on may be new, unless the predecessor did more than the replay has done.
void ReplayCourse::end_last_call() {
  if (repeats_ && left_over().empty()) world_.reached(ReplayPlace::last_call_ended, __libc_single_threaded);
}

/// What must be repeated before anything new: a resumed rank may leave some of its record for later.
std::string ReplayCourse::left_over(bool with_contributions) {
  std::string left = is_resumed_ ? std::string() : left_in_record();
  return left.empty() ? left_in_logs(with_contributions) : left;
}

std::string ReplayCourse::left_in_record() {
  auto& replayer = determinants_.replayer();
  if (in_last_part_ ? replayer.outcomes_of_mpi_left() : replayer.outcomes_left())
    return replayer.describe_next();
  if (determinants_.is_checkpoint_left()) return "a checkpoint";
  if (replayer.matches_left()) return "a receive from MPI_ANY_SOURCE";
  if (receiving_.awaited_matches() > 0) return "a receive from MPI_ANY_SOURCE, whose message is gone,";
  return past_.operations ? past_.operations() : std::string();
}

std::string ReplayCourse::left_in_logs(bool with_contributions) {
  if (std::string left = outgoing_.left_over(); !left.empty()) return left;
  if (with_contributions && past_.contributions)
    if (std::string left = past_.contributions(); !left.empty()) return left;
  if (calls_ && calls_->begun() < last_call_ && !in_last_part_)
    return fmt::format("MPI call {}, the predecessor's last one,", last_call_);
  return {};
}

bool ReplayCourse::drain() {
  if (draining_ || progress_.is_stepping()) return false;
  draining_ = true;
  bool any = false;
  for (int in_vain = 0; in_vain < looks_in_vain;) {
    const bool has_come = incoming_.ready();
    const bool went_on = progress_.go_on();
    in_vain = has_come || went_on ? 0 : in_vain + 1;
    any |= in_vain == 0;
  }
  draining_ = false;
  return any;
}

void ReplayCourse::drain_all() {
  if (!repeats_) return;
  await_inputs();
  drain();
}

void ReplayCourse::await_inputs() {
  if (draining_ || progress_.is_stepping()) return;
  draining_ = true;
  const Progress::InWait in_wait(progress_);
  while (world_.awaits_inputs())
    if (!progress_.go_on())
      world_.sleep([this] { return progress_.anything_new() || !world_.awaits_inputs(); });
  draining_ = false;
}

void ReplayCourse::end(std::string_view here, bool with_contributions) {
  if (!repeats_) return;
  if (holds_back_) {
    const std::string left = left_over(with_contributions);
    if (!left.empty()) diverged(fmt::format("{}, while {} is still to be repeated", here, left));
    if (!with_contributions && !left_over().empty()) return;
  }
  tell_over();
  hold_back_no_longer();
}

/// The driver judges the output. Others learn of what follows afterwards. What is printed behind MPI may be
/// missing yet; the driver judges it when the process ends.
void ReplayCourse::tell_over() {
  repeats_ = false;
  world_.reached(in_last_part_ ? ReplayPlace::last_call_ended : ReplayPlace::over, __libc_single_threaded);
}

bool ReplayCourse::waits_in_vain(const std::function<bool()>& done) {
  // Of what the predecessor was told, all is there: it never leaves the others' logs.
  if (drain()) return true;
  // Or is on its way from another node: then this wait goes on, whatever else is to come meanwhile.
  if (world_.awaits_inputs()) return false;
  for (int look = 0; look < looks_in_vain; ++look)
    if (done()) return true;
  if (drain()) return true;
  if (awaited_ && !is_resumed_)
    diverged(fmt::format("{}, which its predecessor was told of, is not there", awaited_));
  end("it waits for something that its predecessor had not waited for in vain");
  return false;
}

/// Not while something else goes on: what follows from it belongs to an earlier place of the program.
bool ReplayCourse::may_send_new() {
  if (!holds_back_) return true;
  if (draining_ || progress_.is_stepping()) return false;
  drain_all();
  end("it sends something that its predecessor had not sent");
  return true;
}

bool ReplayCourse::may_tell_new() {
  if (holds_back_ && in_last_call_ && left_over().empty()) hold_back_no_longer();
  return !holds_back_;
}

void ReplayCourse::hold_back_no_longer() {
  if (!holds_back_) return;
  LLAMADA_CRASH_POINT("replay:ended");
  holds_back_ = false;
  is_on_ = !left_in_record().empty();
  determinants_.publish_counters();
  outgoing_.went_live();
  if (is_on_) return look_at_each_call();
  tell_live();
}

void ReplayCourse::tell_live() {
  world_.live();
  LLAMADA_CRASH_POINT("replay:live");
  world_.wake_all();
}

/// Whether the record is used up: then the rank is as any other.
void ReplayCourse::look_at_record() {
  if (!follows_record() || !left_in_record().empty()) return;
  is_on_ = false;
  determinants_.publish_counters();
  tell_live();
}

/// Only what the program does takes anything from the record.
void ReplayCourse::look_at_each_call() {
  look_at_record();
  if (is_on_ && calls_) calls_->watch(calls_->begun() + 1, [this] { look_at_each_call(); });
}

void ReplayCourse::reach_end() {
  if (!repeats_) return;
  drain_all();
  end("it reaches the end", false);
}

void ReplayCourse::finish_at(std::string_view here) {
  if (repeats_) {
    drain_all();
    end(here);
  }
  look_at_record();
  if (follows_record()) diverged(fmt::format("{}, while {} is still to be repeated", here, left_in_record()));
}

}  // namespace llamada::mpi
