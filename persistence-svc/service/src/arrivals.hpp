#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "feed.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/topics/sample.hpp"
#include "topic_keeper.hpp"

namespace llamada::service {

class Intake;

/// Holds the samples of EXCLUSIVE writers until they are judged, each topic's in the order of their source
/// timestamps. The service reads each writer by itself. After a pause without a service it may read the end
/// of a strong writer before it reads older samples of a weak one.
///
/// A writer that has gone counts as there up to its last sample: nobody knows when it went.
///
/// Threads: the Participant's.
class Arrivals {
 public:
  Arrivals(Feed& feed, const Clock& clock) : feed_(feed), clock_(clock) {}

  /// This service begins to serve. Writers of which only the store knows may still come for a while.
  void begin();
  /// Nothing more is judged.
  void end() { topics_.clear(); }

  // From within Participant::poll().

  /// The intake is to be waited for until its writer is matched.
  void expect(Intake& intake);
  /// False: not now; the sample was not moved from.
  bool add(Intake& intake, topics::Sample&& sample);
  void lapsed(Intake& intake) { add_end(intake, What::lapsed); }
  void gone(Intake& intake, bool died) { add_end(intake, died ? What::died : What::deleted); }

  /// The intake ends: nothing of it is left, or its writer has never been matched.
  void forget(const Intake& intake);

  /// Judges all that can be judged. Not from within poll(). `is_here`: discovery knows the writer.
  using IsHere = std::function<bool(const topics::Guid& writer)>;
  void work(const std::map<TopicKey, std::unique_ptr<TopicKeeper>>& keepers, const IsHere& is_here);
  /// True while more of the past may come than is kept yet.
  bool is_behind() const { return is_behind_; }
  /// True if a poll() that takes more samples lets it go on.
  bool wants_more() const { return wants_more_; }
  /// When work() is to be called next, on the monotonic clock.
  std::int64_t due_ns() const { return due_ns_; }

 private:
  static constexpr std::int64_t patience_ns = 2'000'000'000;
  static constexpr std::size_t bytes_max = std::size_t{8} << 20;  // of a topic, shared by its writers
  static constexpr std::size_t count_max = 8192;
  static constexpr std::int64_t never_ns = INT64_MAX;

  enum class What : std::uint8_t { sample, lapsed, died, deleted, absent };
  struct Event {
    What what = What::sample;
    std::int64_t time_ns = 0;
    std::size_t size_bytes = 0;
    topics::Sample sample;
  };
  struct Writer {
    Intake* intake = nullptr;  // nullptr: only the store knows of it
    std::deque<Event> events;
    std::size_t bytes = 0;  // of their samples
    std::int64_t last_ns = INT64_MIN;
    std::int64_t since_ns = INT64_MIN;   // it has written nothing before
    std::int64_t expected_until_ns = 0;  // for so long others wait for it to be matched
    bool has_more = false;               // a sample was refused
    bool is_blocked = false;             // the topic is at its limits, or the disk is full
  };
  using Writers = std::map<topics::Guid, Writer>;
  struct Topic {
    Writers writers;
    bool is_settled = false;  // all writers that have claims in the store have come, or do not come
  };

  static Writer& writer_of(Topic& topic, Intake& intake);
  void add_end(Intake& intake, What what);
  std::int64_t limit_ns(const Topic& topic, std::int64_t now_ns);
  static void settle(const TopicKeeper& keeper, Topic& topic, const IsHere& is_here);
  void judge(TopicKeeper& keeper, Topic& topic, std::int64_t now_ns);
  static Writers::iterator next(Writers& writers, std::int64_t limit_ns);
  bool perform(TopicKeeper& keeper, const topics::Guid& guid, Writer& writer);

  Feed& feed_;
  const Clock& clock_;
  std::map<TopicKeeper*, Topic> topics_;
  std::int64_t begun_ns_ = 0;
  std::int64_t looked_ns_ = INT64_MIN;       // the time of day of the last work()
  std::int64_t before_look_ns_ = INT64_MIN;  // and of the one before
  std::int64_t due_ns_ = never_ns;
  bool is_behind_ = false;
  bool wants_more_ = false;
};

}  // namespace llamada::service
