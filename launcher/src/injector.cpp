#include "injector.hpp"

#include <signal.h>

#include <algorithm>
#include <map>

namespace llamada::launcher {

Injector::Injector(EventLoop& loop, std::vector<InjectRule> rules, Kill kill)
    : loop_(loop), kill_(std::move(kill)) {
  // The k-th rule for a rank that names no incarnation concerns incarnation k.
  std::map<std::uint32_t, std::uint32_t> next_incarnation;
  for (InjectRule& rule : rules) {
    Entry entry;
    if (rule.incarnation)
      entry.incarnation = *rule.incarnation;
    else if (rule.trigger != InjectTrigger::after)
      entry.incarnation = ++next_incarnation[rule.rank];
    entry.rule = std::move(rule);
    entries_.push_back(std::move(entry));
  }
}

void Injector::job_started() {
  for (Entry& entry : entries_)
    if (entry.rule.trigger == InjectTrigger::after && entry.incarnation == 0) set_timer(entry);
}

void Injector::rank_started(std::uint32_t rank, std::uint32_t incarnation) {
  for (Entry& entry : entries_) {
    if (entry.rule.rank != rank || entry.rule.trigger != InjectTrigger::after) continue;
    if (entry.incarnation == incarnation) set_timer(entry);
    if (entry.due) fire(entry);
  }
}

void Injector::set_timer(Entry& entry) {
  loop_.after(entry.rule.delay, [this, &entry] { fire(entry); });
}

void Injector::fire(Entry& entry) {
  if (entry.fired) return;
  entry.killed_at = EventLoop::TimePoint::clock::now();
  entry.fired = kill_(entry.rule.rank, entry.rule.signal);
  entry.due = !entry.fired && entry.incarnation == 0;
  if (!entry.fired) entry.killed_at.reset();
}

std::string Injector::identity_lines(std::uint32_t rank, std::uint32_t incarnation) const {
  std::string lines;
  for (const Entry& entry : entries_) {
    const InjectRule& rule = entry.rule;
    if (rule.rank != rank || entry.incarnation != incarnation) continue;
    if (rule.trigger == InjectTrigger::after) continue;
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
  if (rule.rank != death.rank || entry.incarnation != death.incarnation || death.signal != rule.signal)
    return false;
  if (rule.trigger == InjectTrigger::at_call) return death.call_index == rule.count;
  if (rule.trigger == InjectTrigger::in_call) return death.mpi_call == rule.name;
  return rule.trigger == InjectTrigger::at_step || rule.trigger == InjectTrigger::in_middle;
}

std::optional<std::chrono::nanoseconds> Injector::rank_died(const DeathRecord& death) {
  std::optional<std::chrono::nanoseconds> ago;
  for (Entry& entry : entries_) {
    if (fits(entry, death)) entry.fired = true;
    if (entry.rule.rank != death.rank || !entry.killed_at) continue;
    if (entry.rule.signal == death.signal) ago = EventLoop::TimePoint::clock::now() - *entry.killed_at;
    entry.killed_at.reset();
  }
  return ago;
}

std::vector<InjectionRecord> Injector::records() const {
  std::vector<InjectionRecord> records;
  for (const Entry& entry : entries_) records.push_back({entry.rule.text, entry.fired});
  return records;
}

bool Injector::needs_crash_points() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.rule.trigger == InjectTrigger::at_step; });
}

}  // namespace llamada::launcher
