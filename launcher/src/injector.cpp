#include "injector.hpp"

#include <signal.h>
#include <sys/random.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace llamada::launcher {
namespace {

using std::chrono::nanoseconds;

/// How often a slow rank is stopped and continued: often enough that it seems slow, not stopped.
constexpr nanoseconds slow_period = std::chrono::milliseconds(20);
constexpr nanoseconds next_min = std::chrono::milliseconds(1);

/// Short enough to be typed.
std::uint64_t draw_seed() {
  std::uint32_t seed = 0;
  static_cast<void>(getrandom(&seed, sizeof seed, 0));
  return seed;
}

/// Exponentially distributed, as the times between failures of a machine are.
nanoseconds draw_distance(Random& random, nanoseconds mean) {
  const double part = static_cast<double>(random.next() >> 11) * 0x1p-53;
  return nanoseconds(std::llround(-std::log1p(-part) * static_cast<double>(mean.count())));
}

bool is_of_launcher(const InjectRule& rule) {
  return rule.target == InjectTarget::driver || rule.target == InjectTarget::mpirun ||
         rule.target == InjectTarget::node;
}

/// Whether the clock of the rule begins with a process of the rank.
bool is_of_process(const InjectRule& rule) { return rule.incarnation.has_value() || rule.in_replay; }

}  // namespace

Injector::Injector(EventLoop& loop, std::vector<InjectRule> rules, Hands hands)
    : loop_(loop), hands_(std::move(hands)) {
  for (InjectRule& rule : rules) enter(std::move(rule));
}

Injector::Entry& Injector::enter(InjectRule rule) {
  Entry& entry = entries_.emplace_back();
  entry.text = rule.text;
  if (rule.draws()) {
    const std::uint64_t seed = rule.seed ? *rule.seed : draw_seed();
    if (!rule.seed) entry.text += fmt::format(" seed {}", seed);
    entry.random = Random(seed);
  }
  entry.rank = rule.rank;
  entry.incarnation = rule.incarnation.value_or(0);
  entry.rule = std::move(rule);
  return entry;
}

void Injector::draw_rank(Entry& entry) const {
  if (entry.rule.target == InjectTarget::any_rank)
    entry.rank = static_cast<std::uint32_t>(entry.random.below(rank_count_));
}

void Injector::job_started(std::uint32_t rank_count) {
  rank_count_ = rank_count;
  // The k-th rule for a rank that names no incarnation concerns incarnation k.
  std::map<std::uint32_t, std::uint32_t> next_incarnation;
  for (Entry& entry : entries_) {
    begin(entry);
    if (entry.rule.is_by_rank() && !entry.rule.incarnation)
      entry.incarnation = ++next_incarnation[entry.rank];
  }
}

std::string Injector::add(InjectRule rule) {
  Entry& entry = enter(std::move(rule));
  begin(entry);
  return entry.text;
}

void Injector::begin(Entry& entry) {
  const InjectRule& rule = entry.rule;
  if (rule.deed == InjectDeed::memory_full) return hands_.limit_log(rule.size_bytes);
  // Else the rank is drawn when the time has come.
  if (rule.is_by_rank() || is_of_process(rule) || rule.deed == InjectDeed::slow) draw_rank(entry);
  if (rule.is_by_rank() || is_of_process(rule)) return;
  if (rule.trigger == InjectTrigger::every) return set_timer_of_next(entry);
  set_timer(entry, rule.delay);
}

void Injector::rank_started(std::uint32_t rank, std::uint32_t incarnation) {
  for (Entry& entry : entries_) {
    const InjectRule& rule = entry.rule;
    if (rule.trigger != InjectTrigger::after || !entry.is_for(rank)) continue;
    const bool is_its = rule.in_replay ? incarnation > 1 : entry.incarnation == incarnation;
    if (is_of_process(rule) && is_its && entry.rank == rank) set_timer(entry, rule.delay);
    if (entry.due) fire(entry);
  }
}

void Injector::set_timer(Entry& entry, nanoseconds delay) {
  loop_.after(delay, [this, &entry] { fire(entry); });
}

void Injector::set_timer_of_next(Entry& entry) {
  const InjectRule& rule = entry.rule;
  if (rule.times && entry.drawn++ >= *rule.times) return;
  const nanoseconds distance = rule.spread ? draw_distance(entry.random, rule.delay) : rule.delay;
  set_timer(entry, std::max(distance, next_min));
}

void Injector::fire(Entry& entry) {
  const InjectRule& rule = entry.rule;
  const bool again = rule.trigger == InjectTrigger::every;
  if (ended_ || (entry.fired > 0 && !again)) return;
  if (again || !is_of_process(rule)) draw_rank(entry);
  // A replay may be over already: the next replacement has another one.
  if (rule.in_replay && !hands_.is_replaying(entry.rank)) return;
  if (is_of_launcher(rule)) {
    ++entry.fired;
    if (rule.target == InjectTarget::node) return hands_.hit_node(rule, entry.text);
    return rule.target == InjectTarget::driver ? hands_.kill_driver(entry.text)
                                               : hands_.kill_mpirun(entry.text);
  }
  if (rule.deed == InjectDeed::slow) {
    const auto now = EventLoop::TimePoint::clock::now();
    return slow_down(entry, rule.length ? now + *rule.length : EventLoop::TimePoint::max());
  }
  const bool done = hit(entry);
  entry.fired += done;
  entry.due = !done && !again && !is_of_process(rule);
  if (again) set_timer_of_next(entry);
}

/// Kills or stops the entry's rank.
bool Injector::hit(Entry& entry) {
  const InjectRule& rule = entry.rule;
  if (rule.deed == InjectDeed::stop) {
    if (!signal_one(entry, SIGSTOP)) return false;
    loop_.after(*rule.length, [this, rank = entry.rank] { let_go(rank); });
    return true;
  }
  entry.killed_at = EventLoop::TimePoint::clock::now();
  if (signal_one(entry, rule.signal)) return true;
  entry.killed_at.reset();
  return false;
}

/// To the entry's rank or, if it may be any and that one has no process, to the next that has.
bool Injector::signal_one(Entry& entry, int signal) {
  if (entry.rule.target == InjectTarget::rank) return hands_.signal(entry.rank, signal);
  for (std::uint32_t tried = 0; tried < rank_count_; ++tried) {
    if (hands_.signal(entry.rank, signal)) return true;
    entry.rank = (entry.rank + 1) % rank_count_;
  }
  return false;
}

void Injector::slow_down(Entry& entry, EventLoop::TimePoint end) {
  if (ended_ || EventLoop::TimePoint::clock::now() >= end) return;
  const auto stopped = std::chrono::duration_cast<nanoseconds>(slow_period * (entry.rule.percent / 100));
  if (!held_ && hands_.signal(entry.rank, SIGSTOP)) {
    entry.fired = 1;
    loop_.after(stopped, [this, rank = entry.rank] { let_go(rank); });
  }
  loop_.after(slow_period, [this, &entry, end] { slow_down(entry, end); });
}

void Injector::let_go(std::uint32_t rank) {
  if (!held_ && !ended_) hands_.signal(rank, SIGCONT);
}

std::string Injector::identity_lines(std::uint32_t rank, std::uint32_t incarnation) const {
  std::string lines;
  for (const Entry& entry : entries_) {
    const InjectRule& rule = entry.rule;
    if (!rule.is_by_rank() || entry.rank != rank || entry.incarnation != incarnation) continue;
    if (rule.trigger == InjectTrigger::at_call) lines += fmt::format("die_at_call={}\n", rule.count);
    if (rule.trigger == InjectTrigger::in_call) lines += fmt::format("die_in={}:{}\n", rule.name, rule.count);
    if (rule.trigger == InjectTrigger::in_middle)
      lines += fmt::format("die_in_middle={}:{}\n", rule.name, rule.count);
    if (rule.trigger == InjectTrigger::at_step)
      lines += fmt::format("die_at_step={}:{}\n", rule.name, rule.count);
    if (rule.signal != SIGKILL) lines += fmt::format("die_signal={}\n", rule.signal);
  }
  return lines;
}

bool Injector::fits(const Entry& entry, const DeathRecord& death) {
  const InjectRule& rule = entry.rule;
  if (!rule.is_by_rank() || entry.rank != death.rank || entry.incarnation != death.incarnation ||
      death.signal != rule.signal)
    return false;
  if (rule.trigger == InjectTrigger::at_call) return death.call_index == rule.count;
  if (rule.trigger == InjectTrigger::in_call) return death.mpi_call == rule.name;
  return true;
}

std::optional<nanoseconds> Injector::rank_died(const DeathRecord& death) {
  std::optional<nanoseconds> ago;
  for (Entry& entry : entries_) {
    if (fits(entry, death)) entry.fired = 1;
    if (entry.rank != death.rank || !entry.killed_at) continue;
    if (entry.rule.signal == death.signal) ago = EventLoop::TimePoint::clock::now() - *entry.killed_at;
    entry.killed_at.reset();
  }
  return ago;
}

std::optional<std::string> Injector::memory_used_up() {
  std::optional<std::string> text;
  for (Entry& entry : entries_) {
    if (entry.rule.deed != InjectDeed::memory_full) continue;
    entry.fired = 1;
    text = entry.text;
  }
  return text;
}

std::vector<std::string> Injector::rules_left() const {
  std::vector<std::string> rules;
  for (const Entry& entry : entries_)
    if (entry.fired == 0 || entry.rule.trigger == InjectTrigger::every) rules.push_back(entry.text);
  return rules;
}

std::vector<InjectionRecord> Injector::records() const {
  std::vector<InjectionRecord> records;
  for (const Entry& entry : entries_) records.push_back({entry.text, entry.fired > 0, entry.fired});
  return records;
}

bool Injector::needs_crash_points() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.rule.trigger == InjectTrigger::at_step; });
}

std::string Injector::drawn_seeds() const {
  std::string lines;
  for (const Entry& entry : entries_)
    if (entry.text != entry.rule.text)
      lines +=
          fmt::format("mpirun: a seed was drawn; to repeat these failures: --inject '{}'.\n", entry.text);
  return lines;
}

}  // namespace llamada::launcher
