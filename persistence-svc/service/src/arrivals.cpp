#include "arrivals.hpp"

#include <algorithm>
#include <utility>

#include "intake.hpp"

namespace llamada::service {

void Arrivals::begin() {
  topics_.clear();
  begun_ns_ = clock_.monotonic().count();
  looked_ns_ = before_look_ns_ = INT64_MIN;
  is_behind_ = true;
}

Arrivals::Writer& Arrivals::writer_of(Topic& topic, Intake& intake) {
  Writer& writer = topic.writers[intake.info().guid];
  writer.intake = &intake;
  return writer;
}

/// It was not there when the last poll() but one began, so that it has written nothing before.
void Arrivals::expect(Intake& intake) {
  Writer& writer = writer_of(topics_[&intake.keeper()], intake);
  writer.since_ns = before_look_ns_;
  writer.expected_until_ns = clock_.monotonic().count() + patience_ns;
}

/// Each writer has its share of the room, and one sample here at least: else the first of all might wait
/// outside.
bool Arrivals::add(Intake& intake, topics::Sample&& sample) {
  Topic& topic = topics_[&intake.keeper()];
  Writer& writer = writer_of(topic, intake);
  const std::size_t writers = topic.writers.size();
  const bool is_full = writer.events.size() * writers >= count_max || writer.bytes * writers >= bytes_max;
  writer.has_more = feed_.refuses() || (is_full && !writer.events.empty());
  if (writer.has_more) return false;
  writer.last_ns = std::max(writer.last_ns, sample.header().source_timestamp_ns);
  writer.bytes += sample.data().size();
  writer.events.push_back({What::sample, writer.last_ns, sample.data().size(), {}});
  writer.events.back().sample = std::move(sample);
  writer.events.back().sample.let_evacuate(true);
  return true;
}

void Arrivals::add_end(Intake& intake, What what) {
  Writer& writer = writer_of(topics_[&intake.keeper()], intake);
  writer.has_more = false;
  const std::int64_t known_ns = intake.keeper().last_word_ns(intake.info().guid);
  writer.events.push_back({what, std::max(writer.last_ns, known_ns), 0, {}});
}

void Arrivals::forget(const Intake& intake) {
  // What it claims in the store has ended.
  if (!intake.is_matched()) topics_[&intake.keeper()].is_settled = false;
  const auto topic = topics_.find(&intake.keeper());
  if (topic == topics_.end()) return;
  const auto writer = topic->second.writers.find(intake.info().guid);
  if (writer == topic->second.writers.end() || writer->second.intake != &intake) return;
  topic->second.writers.erase(writer);
}

/// Late readers do not wait for the writers of SHARED instances that may still come.
void Arrivals::work(const std::map<TopicKey, std::unique_ptr<TopicKeeper>>& keepers, const IsHere& is_here) {
  is_behind_ = wants_more_ = false;
  due_ns_ = never_ns;
  const std::int64_t now_ns = clock_.monotonic().count();
  for (const auto& [key, keeper] : keepers)
    if (!topics_.contains(keeper.get()) && !keeper->absent_claimants().empty()) topics_[keeper.get()];
  for (auto& [keeper, topic] : topics_) {
    const bool is_early =
        !topic.is_settled && now_ns - begun_ns_ < patience_ns && !keeper->absent_claimants().empty();
    if (is_early) due_ns_ = std::min(due_ns_, begun_ns_ + patience_ns);
    if (is_early && keeper->lacks_owner()) {
      is_behind_ = true;
      continue;
    }
    if (!is_early && !std::exchange(topic.is_settled, true)) settle(*keeper, topic, is_here);
    judge(*keeper, topic, now_ns);
  }
  before_look_ns_ = std::exchange(looked_ns_, clock_.realtime().count());
}

/// The time from which on nothing can be judged: a writer that has come may have written since, and is not
/// matched yet.
std::int64_t Arrivals::limit_ns(const Topic& topic, std::int64_t now_ns) {
  std::int64_t limit_ns = never_ns;
  for (const auto& [guid, writer] : topic.writers) {
    const bool is_expected =
        writer.intake != nullptr && !writer.intake->is_matched() && now_ns < writer.expected_until_ns;
    if (!is_expected) continue;
    limit_ns = std::min(limit_ns, writer.since_ns);
    due_ns_ = std::min(due_ns_, writer.expected_until_ns);
  }
  return limit_ns;
}

/// Of those that do not come the store's samples are the last words.
void Arrivals::settle(const TopicKeeper& keeper, Topic& topic, const IsHere& is_here) {
  for (const topics::Guid& guid : keeper.absent_claimants()) {
    if (!topic.writers.contains(guid) && is_here(guid)) continue;
    Writer& writer = topic.writers[guid];
    if (writer.intake != nullptr) continue;  // it is there, and does not answer
    if (!writer.events.empty()) continue;
    writer.events.push_back({What::absent, keeper.last_word_ns(guid), 0, {}});
  }
}

/// The one whose next event is the oldest. The end: there is none before the limit, or a writer has more than
/// is here.
Arrivals::Writers::iterator Arrivals::next(Writers& writers, std::int64_t limit_ns) {
  auto first = writers.end();
  for (auto place = writers.begin(); place != writers.end(); ++place) {
    const Writer& writer = place->second;
    if (writer.events.empty() && writer.has_more) return writers.end();
    if (writer.events.empty() || writer.is_blocked || writer.events.front().time_ns >= limit_ns) continue;
    if (first == writers.end() || writer.events.front().time_ns < first->second.events.front().time_ns)
      first = place;
  }
  return first;
}

void Arrivals::judge(TopicKeeper& keeper, Topic& topic, std::int64_t now_ns) {
  Writers& writers = topic.writers;
  const std::int64_t limit = limit_ns(topic, now_ns);
  for (auto& [guid, writer] : writers) writer.is_blocked = false;
  bool is_full = false;
  while (!is_full && !feed_.refuses()) {
    const auto place = next(writers, limit);
    if (place == writers.end()) break;
    Writer& writer = place->second;
    if (perform(keeper, place->first, writer)) {
      writer.bytes -= writer.events.front().size_bytes;
      writer.events.pop_front();
      if (writer.intake == nullptr && writer.events.empty()) writers.erase(place);
    } else {
      writer.is_blocked = true;
      is_full = keeper.was_full();
    }
  }
  const auto is_done = [](const auto& each) { return each.second.events.empty() && !each.second.has_more; };
  if (std::all_of(writers.begin(), writers.end(), is_done)) {
    is_behind_ = is_behind_ || limit != never_ns;
    return keeper.settle_strengths();
  }
  const bool is_stuck = std::all_of(writers.begin(), writers.end(), [&](const auto& each) {
    return each.second.is_blocked || is_done(each);
  });
  is_behind_ = is_behind_ || is_full || !is_stuck;
  wants_more_ = wants_more_ || (!is_full && !is_stuck && limit == never_ns && !feed_.refuses());
}

/// False: not now.
bool Arrivals::perform(TopicKeeper& keeper, const topics::Guid& guid, Writer& writer) {
  Event& event = writer.events.front();
  if (event.what == What::sample) return writer.intake->take(event.sample);
  if (event.what == What::lapsed) {
    keeper.writer_lapsed(guid);
    feed_.lapsed(keeper, guid);
  } else if (event.what != What::absent) {
    writer.intake->end(event.what == What::died);
  } else if (writer.intake == nullptr) {  // else it has come at last
    keeper.writer_gone(guid, true);
    feed_.gone(keeper, guid, true);
  }
  return true;
}

}  // namespace llamada::service
