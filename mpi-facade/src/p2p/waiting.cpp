#include "p2p/waiting.hpp"

#include <sched.h>

#include "world/cores.hpp"

namespace llamada::mpi {
namespace {

/// Where ranks run on several nodes each look is a system call, so that so many take as long as
/// Waiting::spin_rounds_max looks at memory.
constexpr unsigned spin_rounds_with_link = 100;

unsigned spin_rounds_of(World& world) {
  if (world.oversubscribed()) return 0;
  return world.link() != nullptr ? spin_rounds_with_link : Waiting::spin_rounds_max;
}

/// Cores that are left when each rank has one.
unsigned spare_cores(const World& world) {
  if (world.oversubscribed()) return 0;
  return static_cast<unsigned>(std::max(cores_allowed() / world.machine_size() - 1, 0));
}

}  // namespace

/// What the thread that waits for all does.
class Waiting::ThreadsWork final : public SharedWaiting::Work {
 public:
  ThreadsWork(World& world, WaitWork& work) : world_(world), work_(work) {}

  bool progress() override { return work_.progress(); }
  bool anything_new() override { return work_.anything_new(); }
  void look_around() override {
    work_.look_around();
    const std::uint32_t survey = world_.survey();
    if (std::exchange(answered_, survey) != survey) work_.report_wait(survey, nullptr, {});
  }
  void sleep(const std::function<bool()>& look_again) override { world_.sleep(look_again); }
  void end_sleep() override { world_.wake(world_.rank()); }

 private:
  World& world_;
  WaitWork& work_;
  std::uint32_t answered_ = 0;
};

Waiting::Waiting(World& world, const Clock& clock, unsigned yields_before_sleep)
    : world_(world),
      clock_(clock),
      has_link_(world.link() != nullptr),
      spin_rounds_(spin_rounds_of(world)),
      yields_before_sleep_(yields_before_sleep),
      cores_(cores_allowed()),
      yielding_(clock),
      own_core_(world, clock) {}

Waiting::~Waiting() = default;

SharedWaiting* Waiting::share(LibraryLock& lock, WaitWork& work) {
  SharedWaiting::Options options;
  options.spin_rounds = spin_rounds_;
  options.yields_before_sleep = yields_before_sleep_;
  options.spinners_max = spare_cores(world_);
  threads_work_ = std::make_unique<ThreadsWork>(world_, work);
  shared_ = std::make_unique<SharedWaiting>(lock, *threads_work_, clock_, options);
  return shared_.get();
}

void Waiting::wait_slowly(WaitWork& work, unsigned rounds, const std::function<bool()>& done) {
  wait_hook_();
  if (work.waited_in_vain(done)) return;
  // Whoever is there after one yield need not have looked: it has not waited in vain.
  if (rounds > 0) work.look_around();
  if (world_.survey() != answered_ && answer_survey(work, done)) return;
  const int ranks = world_.machine_size();
  const bool crowded = world_.oversubscribed();
  if (rounds == 0 && !crowded && cores_ >= ranks) own_core_.settle();
  if (yielding_.stays() || (!crowded && !has_link_ && yielding_.lingers(rounds == 0)))
    return pause_processor();
  if (rounds < yields_before_sleep_ &&
      yielding_.yield(crowded ? ranks : 0, crowded || cores_ < ranks ? 0 : cores_))
    return;
  static_cast<void>(since());
  const auto goes_on = [&] { return work.anything_new() || done(); };
  world_.sleep([&] {
    if (goes_on()) return true;
    // Behind the moment from which on this rank is woken, and behind what it has just taken: whoever waits
    // for room that this rank holds wakes it no more than once.
    work.look_around();
    return goes_on();
  });
}

/// True when there was something to do after all, and the answer is to come later. The look comes after the
/// question is seen: all that anybody did before asking is found by it.
bool Waiting::answer_survey(WaitWork& work, const std::function<bool()>& done) {
  const std::uint32_t survey = world_.survey();
  work.look_around();
  if (work.anything_new() || done()) return true;
  work.report_wait(survey, awaits_, since());
  answered_ = survey;
  return false;
}

std::chrono::nanoseconds Waiting::since() {
  if (since_.count() == 0) since_ = clock_.monotonic();
  return since_;
}

void Waiting::let_others_run() {
  if (shared_)
    shared_->yield();
  else if (spin_rounds_ == 0)
    sched_yield();
}

void Waiting::set_spin_rounds(unsigned rounds) {
  spin_rounds_ = rounds;
  if (shared_) shared_->options().spin_rounds = rounds;
}

void Waiting::set_yields_before_sleep(unsigned yields) {
  yields_before_sleep_ = yields;
  if (shared_) shared_->options().yields_before_sleep = yields;
}

}  // namespace llamada::mpi
