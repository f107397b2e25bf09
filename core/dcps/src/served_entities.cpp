#include "served_entities.hpp"

#include <algorithm>

#include "llamada/dcps/data_reader.hpp"
#include "llamada/dcps/data_writer.hpp"
#include "llamada/dcps/subscriber.hpp"

namespace llamada::dcps::detail {

void ServedEntities::advance(const Now& now) {
  for (DataReader* reader : readers_) reader->advance(now);
  report_news();
  for (DataWriter* writer : writers_) writer->advance(now);
}

std::chrono::nanoseconds ServedEntities::next_wakeup() const {
  std::chrono::nanoseconds next = never;
  for (const DataReader* reader : readers_) next = std::min(next, reader->next_wakeup());
  for (const DataWriter* writer : writers_) next = std::min(next, writer->next_wakeup());
  return next;
}

void ServedEntities::settle(SharedMoment& moment) {
  for (Subscriber* subscriber : subscribers_)
    if (subscriber->holds_groups()) subscriber->settle_groups(moment.use());
  report_news();
}

// Reporting one reader's news may add another's.
void ServedEntities::report_news() {
  for (std::size_t k = 0; k < with_news_.size(); ++k) with_news_[k]->report_news();
  with_news_.clear();
}

void ServedEntities::end_ignored_matches() {
  for (DataReader* reader : readers_) reader->ignore_writers();
  for (DataWriter* writer : writers_) writer->ignore_readers();
}

void ServedEntities::end_all_matches() {
  for (DataReader* reader : readers_) reader->forget_writers();
  for (DataWriter* writer : writers_) writer->forget_readers();
  report_news();
}

void ServedEntities::topic_changed(const Topic& topic) {
  for (DataReader* reader : readers_) reader->on_topic_changed(topic);
  for (DataWriter* writer : writers_) writer->on_topic_changed(topic);
}

void ServedEntities::filter_changed(const ContentFilteredTopic& topic) {
  for (DataReader* reader : readers_) {
    if (reader->topicdescription().get() == &topic) reader->set_filter();
  }
}

}  // namespace llamada::dcps::detail
