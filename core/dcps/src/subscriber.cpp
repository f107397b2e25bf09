#include "llamada/dcps/subscriber.hpp"

#include <algorithm>
#include <map>

#include "core.hpp"
#include "group_order.hpp"
#include "listener_call.hpp"
#include "llamada/dcps/domain_participant.hpp"
#include "reader_cache.hpp"

namespace llamada::dcps {

Subscriber::Subscriber(std::shared_ptr<detail::Core> core, Entity* participant, std::uint64_t number,
                       const qos::SubscriberQos& qos)
    : ConfiguredEntity(std::move(core), participant, qos), number_(number) {}

Subscriber::~Subscriber() = default;

std::shared_ptr<DomainParticipant> Subscriber::participant() const {
  Lock held = lock();
  return parent_ == nullptr ? nullptr
                            : std::static_pointer_cast<DomainParticipant>(parent_->shared_from_this());
}

Status Subscriber::on_enable() {
  core().entities().add(*this);
  return {};
}

void Subscriber::enable_children() {
  for (const auto& reader : readers_) (void)reader->enable_locked();
}

Result<std::shared_ptr<DataReader>> Subscriber::create_datareader(
    const std::shared_ptr<TopicDescription>& topic, const qos::DataReaderQos& qos,
    DataReaderListener* listener, StatusMask mask) {
  if (Status status = check_creatable(qos); !status) return propagate(status);
  Lock held = lock();
  if (builtin_) return failure(Errc::precondition_not_met, "the built-in subscriber makes no readers");
  if (Status status = check_child_of_topic(topic ? topic->topic().get() : nullptr); !status)
    return propagate(status);
  return make_reader(topic, qos, listener, mask);
}

Result<std::shared_ptr<DataReader>> Subscriber::make_reader(const std::shared_ptr<TopicDescription>& topic,
                                                            const qos::DataReaderQos& qos,
                                                            DataReaderListener* listener, StatusMask mask) {
  auto reader = std::shared_ptr<DataReader>(new DataReader(shared_core(), *this, topic, qos));
  reader->made(listener, mask);
  if (Status status = reader->enable_if_wanted(); !status) return propagate(status);
  readers_.push_back(reader);
  count_use(*topic, 1);
  return reader;
}

void Subscriber::count_use(TopicDescription& topic, int change) {
  topic.topic()->use_count_ += static_cast<std::size_t>(change);
  if (auto* filtered = dynamic_cast<ContentFilteredTopic*>(&topic)) {
    filtered->use_count_ += static_cast<std::size_t>(change);
  }
}

Status Subscriber::delete_datareader(const std::shared_ptr<DataReader>& reader) {
  Lock held = lock();
  if (Status status = check_deletable(reader); !status) return status;
  if (!reader->conditions_.empty()) {
    return failure(Errc::precondition_not_met, "topic '{}': the reader has conditions; delete them first",
                   reader->topicdescription()->name());
  }
  remove(held, reader);
  return {};
}

Status Subscriber::delete_datareader_and_conditions(const std::shared_ptr<DataReader>& reader) {
  Lock held = lock();
  if (Status status = check_deletable(reader); !status) return status;
  remove(held, reader);
  return {};
}

Status Subscriber::check_deletable(const std::shared_ptr<DataReader>& reader) const {
  if (!reader || std::find(readers_.begin(), readers_.end(), reader) == readers_.end() || builtin_) {
    return failure(Errc::precondition_not_met, "the reader is not of this subscriber");
  }
  return reader->check_no_loans();
}

void Subscriber::remove(Lock& held, std::shared_ptr<DataReader> reader) {
  if (std::erase(readers_, reader) == 0) return;
  reader->leave(held);
  count_use(*reader->topicdescription(), -1);
}

std::shared_ptr<DataReader> Subscriber::lookup_datareader(const std::string& topic_name) const {
  Lock held = lock();
  for (const auto& reader : readers_) {
    if (reader->topicdescription()->name() == topic_name) return reader;
  }
  return nullptr;
}

std::vector<std::shared_ptr<DataReader>> Subscriber::datareaders() const {
  Lock held = lock();
  return readers_;
}

Result<std::vector<std::shared_ptr<DataReader>>> Subscriber::datareaders(const DataState& state) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return propagate(status);
  if (!may_access()) {
    return failure(Errc::precondition_not_met,
                   "PRESENTATION GROUP: readers are asked for between begin_access() and end_access()");
  }
  (void)core().poll();
  const Now now = core().now();
  ReadSelector selector;
  selector.state = state;
  if (is_group() && qos_.presentation.ordered_access) return readers_in_group_order(selector, now);
  std::vector<std::shared_ptr<DataReader>> found;
  for (const auto& reader : readers_) {
    if (reader->enabled_ && reader->cache_->any(selector, now)) found.push_back(reader);
  }
  return found;
}

namespace {

GroupPlace place_of(const CachedSample& sample) {
  return {sample.writer.participant, sample.publisher, sample.sample.header().group_sequence, sample.order};
}

}  // namespace

// A reader for each sample.
std::vector<std::shared_ptr<DataReader>> Subscriber::readers_in_group_order(const ReadSelector& selector,
                                                                            Now now) {
  struct Item {
    std::shared_ptr<DataReader> reader;
    GroupPlace place;
  };
  std::vector<Item> items;
  for (const auto& reader : readers_) {
    if (!reader->enabled_) continue;
    reader->cache_->visit_selected(selector, now, [&](const CachedSample& sample) {
      items.push_back({reader, place_of(sample)});
    });
  }
  order_by_group(items, [](const Item& item) { return item.place; });
  std::vector<std::shared_ptr<DataReader>> found;
  found.reserve(items.size());
  for (Item& item : items) found.push_back(std::move(item.reader));
  return found;
}

Status Subscriber::delete_contained_entities() {
  Lock held = lock();
  if (builtin_) return failure(Errc::precondition_not_met, "the built-in subscriber keeps its readers");
  for (const auto& reader : readers_) {
    if (Status status = reader->check_no_loans(); !status) return status;
  }
  remove_all(held);
  return {};
}

void Subscriber::remove_all(Lock& held) {
  while (!readers_.empty()) remove(held, readers_.back());
}

Status Subscriber::apply_qos(const qos::SubscriberQos& qos) {
  for (const auto& reader : readers_) {
    if (Status status = reader->update_endpoint_qos(reader->qos_, qos); !status) return status;
  }
  return {};
}

Status Subscriber::begin_access() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (access_depth_++ > 0 || !is_group()) return {};
  // What the second look finds may be older, by its publisher's order, than what the first found; what is
  // older than the first's is complete then.
  (void)core().poll();
  const std::uint64_t seen = next_order_;
  (void)core().poll();
  if (qos_.presentation.ordered_access) hide_behind(seen);
  for (const auto& reader : readers_) {
    if (reader->enabled_) reader->cache_->freeze();
  }
  return {};
}

// Samples that came after `order` are not to be seen yet, unless one that was made later is seen already.
void Subscriber::hide_behind(std::uint64_t order) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> latest;
  for (const auto& reader : readers_) {
    if (!reader->enabled_) continue;
    reader->cache_->visit_samples([&](CachedSample& sample) {
      std::uint64_t& sequence = latest[{sample.writer.participant, sample.publisher}];
      if (sample.order < order) sequence = std::max(sequence, sample.sample.header().group_sequence);
    });
  }
  for (const auto& reader : readers_) {
    if (!reader->enabled_) continue;
    reader->cache_->visit_samples([&](CachedSample& sample) {
      sample.hidden = sample.order >= order && sample.sample.header().group_sequence >
                                                   latest[{sample.writer.participant, sample.publisher}];
    });
  }
}

Status Subscriber::end_access() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (access_depth_ == 0) return failure(Errc::precondition_not_met, "there is no begin_access() to end");
  if (--access_depth_ > 0 || !is_group()) return {};
  for (const auto& reader : readers_) {
    if (!reader->enabled_) continue;
    reader->cache_->thaw();
    reader->report_room();
    if (reader->cache_->any({}, core().now())) reader->report_data();
  }
  return {};
}

// A coherent set of a group is let go when all writers of its publisher that have readers here have ended it.
void Subscriber::settle_groups(Now now) {
  if (!is_group() || !qos_.presentation.coherent_access || access_depth_ > 0) return;
  while (settle_one_group(now)) {
  }
}

bool Subscriber::settle_one_group(Now now) {
  struct Waiting {
    ReaderCache* cache;
    ReaderCache::WaitingSet set;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Waiting>> groups;
  for (const auto& reader : readers_) {
    if (!reader->enabled_) continue;
    for (const ReaderCache::WaitingSet& set : reader->cache_->waiting_sets()) {
      groups[{set.writer.participant, set.publisher}].push_back({reader->cache_.get(), set});
    }
  }
  for (const auto& [publisher, waiting] : groups) {
    std::uint32_t number = UINT32_MAX;
    for (const Waiting& each : waiting) number = std::min(number, each.set.number);
    const bool complete =
        std::all_of(readers_.begin(), readers_.end(), [&, id = publisher](const auto& reader) {
          return !reader->enabled_ || reader->cache_->has_passed(id.first, id.second, number);
        });
    if (!complete) continue;
    const bool whole = std::all_of(waiting.begin(), waiting.end(), [&](const Waiting& each) {
      return each.set.number != number || each.set.whole;
    });
    for (const Waiting& each : waiting) {
      if (each.set.number == number) each.cache->release_set(each.set.writer, whole, now);
    }
    return true;
  }
  return false;
}

std::uint32_t Subscriber::ended_through(std::uint64_t participant, std::uint64_t publisher) const {
  std::uint32_t number = 0;
  if (!is_group()) return number;
  for (const auto& reader : readers_) {
    if (reader->cache_) number = std::max(number, reader->cache_->ended_through(participant, publisher));
  }
  return number;
}

Status Subscriber::notify_datareaders() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  for (const auto& reader : readers_) {
    if ((reader->changed_statuses() & status::data_available) != 0) core().plan_data_call(*reader);
  }
  return {};
}

std::function<void(Listener&)> Subscriber::listener_call(StatusMask status) {
  clear_status(status);
  return call_of(std::static_pointer_cast<Subscriber>(shared_from_this()),
                 &SubscriberListener::on_data_on_readers);
}

qos::DataReaderQos Subscriber::default_datareader_qos() const {
  Lock held = lock();
  return default_datareader_qos_;
}

Status Subscriber::set_default_datareader_qos(const qos::DataReaderQos& qos) {
  return set_default(default_datareader_qos_, qos);
}

}  // namespace llamada::dcps
