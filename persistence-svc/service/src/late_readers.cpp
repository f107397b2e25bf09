#include "late_readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "llamada/topics/matching.hpp"

namespace llamada::service {
namespace {

std::string name_of(const topics::EndpointInfo& reader) {
  return fmt::format("topic '{}': the late reader of process {}", reader.topic, reader.pid);
}

}  // namespace

std::vector<const TopicKeeper*> LateReaders::keepers_for(const topics::EndpointInfo& reader) const {
  std::vector<const TopicKeeper*> fitting;
  for (const auto& [key, keeper] : topics_.all())
    if (topic_difference(key, reader) == topics::TopicDifference::none) fitting.push_back(keeper.get());
  return fitting;
}

void LateReaders::open(const IsGone& is_gone) {
  const std::int64_t now_ns = clock_.monotonic().count();
  const bool is_due = now_ns >= retry_ns_;
  for (New& added : std::exchange(new_, {})) {
    if (is_gone(added.info.id)) continue;
    if (added.waits_for_room && !is_due) {
      new_.push_back(std::move(added));
      continue;
    }
    auto served = Served::open(participant_, added.info, keepers_for(added.info));
    if (served) {
      current_.push_back({std::move(*served)});
      participant_.wake_self();
      continue;
    }
    const bool may_come = served.error().code() == Errc::out_of_resources;
    if (!std::exchange(added.waits_for_room, may_come))
      say_(fmt::format("{} is not served{}: {}", name_of(added.info), may_come ? " yet" : "",
                       served.error().text()));
    if (!may_come) continue;
    retry_ns_ = now_ns + period_ns;
    new_.push_back(std::move(added));
  }
}

void LateReaders::serve(bool is_complete) {
  bool waits = false;
  for (Current& each : current_) {
    Served& served = *each.served;
    if (auto worked = served.work(is_complete); !worked)
      say_(fmt::format("{} is not served: {}", name_of(served.info()), worked.error().text()));
    if (!served.lacks_room()) continue;
    waits = true;
    if (!std::exchange(each.has_waited, true))
      say_(fmt::format("{} has to wait until others have what they were given: {}", name_of(served.info()),
                       served.lacks_room()->text()));
  }
  const std::int64_t now_ns = clock_.monotonic().count();
  due_ns_ = waits ? now_ns + period_ns : new_.empty() ? never_ns : retry_ns_;
  if (!waits || !is_stuck())
    stuck_since_ns_ = 0;
  else if (stuck_since_ns_ == 0)
    stuck_since_ns_ = now_ns;
  else if (now_ns - stuck_since_ns_ >= period_ns)
    give_up_last();
}

/// All lack memory, and none of them holds any that could come back.
bool LateReaders::is_stuck() const {
  return std::all_of(current_.begin(), current_.end(), [](const Current& each) {
    return each.served->lacks_room() && each.served->holds_nothing();
  });
}

void LateReaders::give_up_last() {
  Served& last = *current_.back().served;
  say_(fmt::format("{} is not served: {}", name_of(last.info()), last.lacks_room()->text()));
  last.give_up();
  stuck_since_ns_ = 0;
  participant_.wake_self();
}

void LateReaders::drop(const IsGone& is_gone) {
  std::erase_if(current_, [&](const Current& each) {
    if (!each.served->is_over() && !is_gone(each.served->info().id)) return false;
    ++served_count_;
    sample_count_ += each.served->sample_count();
    return true;
  });
}

void LateReaders::clear() {
  new_.clear();
  current_.clear();
  due_ns_ = never_ns;
}

}  // namespace llamada::service
