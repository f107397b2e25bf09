#pragma once

#include <chrono>
#include <vector>

#include "llamada/dcps/time.hpp"
#include "shared_moment.hpp"

namespace llamada::dcps {

class ContentFilteredTopic;
class DataReader;
class DataWriter;
class Subscriber;
class Topic;

namespace detail {

/// The enabled entities of one participant that react to time, to arriving samples and to changed topics.
///
/// Threads: one at a time, with the participant's lock held.
class ServedEntities {
 public:
  void add(DataReader& reader) { readers_.push_back(&reader); }
  void add(DataWriter& writer) { writers_.push_back(&writer); }
  void add(Subscriber& subscriber) { subscribers_.push_back(&subscriber); }
  void remove(DataReader& reader) {
    std::erase(readers_, &reader);
    std::erase(with_news_, &reader);
  }
  void remove(DataWriter& writer) { std::erase(writers_, &writer); }
  void remove(Subscriber& subscriber) { std::erase(subscribers_, &subscriber); }

  /// Something happened in the reader's cache: settle() or advance() turns it into statuses.
  void has_news(DataReader& reader) { with_news_.push_back(&reader); }

  /// Does everything that is due by the time.
  void advance(const Now& now);
  /// The first moment at which something is due; never if there is none.
  std::chrono::nanoseconds next_wakeup() const;
  /// After a look: releases complete coherent sets of groups, then reports the readers' news.
  void settle(SharedMoment& moment);

  /// Ends the matches with entities that the participant ignores now.
  void end_ignored_matches();
  /// The domain is gone: ends all matches.
  void end_all_matches();

  /// The topic's policies have changed: its endpoints tell the domain.
  void topic_changed(const Topic& topic);
  void filter_changed(const ContentFilteredTopic& topic);

 private:
  void report_news();

  std::vector<DataReader*> readers_;
  std::vector<DataReader*> with_news_;  // of readers_, each once
  std::vector<DataWriter*> writers_;
  std::vector<Subscriber*> subscribers_;
};

}  // namespace detail
}  // namespace llamada::dcps
