#include "llamada/dcps/data_reader.hpp"

#include <algorithm>

#include "core.hpp"
#include "endpoint_statuses.hpp"
#include "listener_call.hpp"
#include "llamada/dcps/domain_participant.hpp"
#include "llamada/dcps/subscriber.hpp"
#include "llamada/topics/matching.hpp"
#include "reader_cache.hpp"

namespace llamada::dcps {

DataReader::DataReader(std::shared_ptr<detail::Core> core, Subscriber& subscriber,
                       std::shared_ptr<TopicDescription> topic, const qos::DataReaderQos& qos)
    : ConfiguredEntity(std::move(core), &subscriber, qos), topic_(std::move(topic)) {}

DataReader::~DataReader() = default;

Subscriber& DataReader::subscriber_entity() const { return static_cast<Subscriber&>(*parent_); }

DomainParticipant& DataReader::participant_entity() const {
  return static_cast<DomainParticipant&>(*subscriber_entity().parent_);
}

// Whether the writer's history is to come, and it is not matched yet.
bool DataReader::awaits_history_of(const topics::EndpointInfo& writer) const {
  const Topic& topic = *topic_->topic();
  if (!writer.writer || writer.topic != topic.name() || writer.type != topic.type_name()) return false;
  if (writer.type_hash != 0 && writer.type_hash != topic.type()->descriptor_hash()) return false;
  if (writer.qos.datawriter.durability.kind == qos::DurabilityKind::volatile_ ||
      core().ignored().has(writer)) {
    return false;
  }
  if (endpoint_ && !topics::is_meant_for(writer, endpoint_->id())) return false;
  const bool is_matched = std::any_of(writers_.begin(), writers_.end(),
                                      [&](const MatchedWriter& each) { return each.info.id == writer.id; });
  const qos::SubscriberQos& subscriber = subscriber_entity().qos_;
  return !is_matched && qos::partitions_match(writer.qos.publisher.partition, subscriber.partition) &&
         qos::incompatibilities(writer.qos.datawriter, writer.qos.publisher, qos_, subscriber).empty();
}

std::shared_ptr<Subscriber> DataReader::subscriber() const {
  Lock held = lock();
  return parent_ == nullptr ? nullptr : std::static_pointer_cast<Subscriber>(parent_->shared_from_this());
}

Status DataReader::on_enable() {
  make_cache();
  if (subscriber_entity().builtin_) {
    core().entities().add(*this);
    return {};
  }
  const Topic& topic = *topic_->topic();
  const topics::EndpointSpec spec = topic.endpoint_spec(
      qos::endpoint_qos(qos_, subscriber_entity().qos_, topic.qos_.topic_data), subscriber_entity().number_);
  auto endpoint = core().make_endpoint([&] { return core().participant().create_reader(spec, *this); });
  if (!endpoint) return propagate(endpoint);
  endpoint_ = std::move(*endpoint);
  handle_ = handle_of(endpoint_->id());
  core().entities().add(*this);
  core().look_at({});
  return {};
}

void DataReader::make_cache() {
  ReaderCacheOptions options;
  options.qos = qos_;
  options.presentation = subscriber_entity().qos_.presentation;
  options.order_counter = &subscriber_entity().next_order_;
  options.on_news = [this] {
    if (!deleted_) core().entities().has_news(*this);
  };
  const types::TypeSupport& type = *topic_->type();
  if (type.is_keyed()) {
    options.key_of = [&type](std::span<const std::byte> sample) {
      auto key = type.key_of(sample);
      return key ? std::move(*key) : std::vector<std::byte>();
    };
    options.is_hash_ambiguous = [&type](std::uint64_t key_hash) { return type.is_hash_ambiguous(key_hash); };
  }
  cache_ = std::make_unique<ReaderCache>(std::move(options));
  set_filter();
}

// A sample that cannot be judged is let through, so that who reads it finds what is wrong with it.
void DataReader::set_filter() {
  const auto* filtered = dynamic_cast<const ContentFilteredTopic*>(topic_.get());
  if (filtered == nullptr || !cache_) return;
  cache_->set_filter([filter = filtered->filter_](std::span<const std::byte> sample) {
    const auto matches = filter.matches(sample);
    return !matches || *matches;
  });
}

// What the subscriber calls when it deletes the reader.
void DataReader::leave(Lock& held) {
  core().entities().remove(*this);
  if (cache_ && cache_->loan_count() > 0) self_ = std::static_pointer_cast<DataReader>(shared_from_this());
  endpoint_.reset();
  const auto conditions = std::exchange(conditions_, {});
  mark_deleted(held);
  for (const auto& condition : conditions) condition->notify();  // they can never become true any more
  forget_cache();
}

// Samples lie in the writers' memory: what is on loan keeps the cache.
void DataReader::forget_cache() {
  if (deleted_ && cache_ && cache_->loan_count() == 0) cache_.reset();
}

Status DataReader::apply_qos(const qos::DataReaderQos& qos) {
  if (Status status = update_endpoint_qos(qos, subscriber_entity().qos_); !status) return status;
  cache_->set_qos(qos, core().now());
  core().look_at(cache_->next_wakeup());
  return {};
}

Status DataReader::update_endpoint_qos(const qos::DataReaderQos& reader,
                                       const qos::SubscriberQos& subscriber) {
  if (!endpoint_) return {};
  return endpoint_->set_qos(qos::endpoint_qos(reader, subscriber, topic_->topic()->qos_.topic_data));
}

void DataReader::on_topic_changed(const Topic& topic) {
  if (!subscriber_entity().builtin_ && &topic == topic_->topic().get()) {
    (void)update_endpoint_qos(qos_, subscriber_entity().qos_);
  }
}

Result<LoanedSamples> DataReader::read_or_take(const ReadOptions& options, bool take) {
  Result<LoanedSamples> samples;
  if (Status status = read_or_take(options, take, *samples); !status) samples = propagate(status);
  return samples;
}

Status DataReader::read_or_take(const ReadOptions& options, bool take, LoanedSamples& loaned) {
  loaned.clear();
  Lock held = lock();
  // Without a domain, too, the reader gives what has come to it before.
  if (!enabled_ || deleted_) return check_usable();
  if (!subscriber_entity().may_access()) {
    return failure(Errc::precondition_not_met,
                   "topic '{}': PRESENTATION GROUP: samples are read between begin_access() and end_access()",
                   topic_->name());
  }
  const Status polled = core().look();
  clear_status(status::data_available);
  subscriber_entity().clear_status(status::data_on_readers);
  if (cache_->is_empty() && options.selects_all()) {
    if (!polled && polled.error().code() == Errc::closed) return tl::unexpected<Error>(polled.error());
    report_room();
    return {};
  }
  loaned.samples_ = std::exchange(spare_, {});
  if (!take || !options.takes_all() || !cache_->take_all(options.state, core().moment(), loaned.samples_)) {
    auto selector = selector_of(options);
    if (!selector) {
      loaned.samples_.clear();  // of what was on loan before
      return propagate(selector);
    }
    cache_->select(*selector, take, core().moment(), loaned.samples_);
  }
  if (loaned.empty() && !polled && polled.error().code() == Errc::closed)
    return tl::unexpected<Error>(polled.error());
  // States have changed; of what is not there any more no condition is true.
  if (!cache_->is_empty())
    for (const auto& condition : conditions_) condition->notify();
  report_room();
  if (loaned.empty()) return {};
  for (LoanedSamples::Sample& each : loaned.samples_)
    each.data = each.info.valid_data ? each.sample->sample.data() : std::span<const std::byte>();
  loaned.reader_ = this;
  core().domain().loan_began();
  return {};
}

void DataReader::give_back(std::vector<LoanedSamples::Sample>&& loans) {
  if (!core().is_of_this_process()) return;  // they are the parent process's
  constexpr std::size_t spare_count_max = 64;
  std::shared_ptr<DataReader> self;  // goes after the lock
  Lock held = lock();
  for (const LoanedSamples::Sample& each : loans) cache_->give_back(each.sample);
  if (loans.capacity() <= spare_count_max) spare_ = std::move(loans);
  report_room();
  forget_cache();
  core().domain().loan_ended();
  if (!cache_) self = std::move(self_);
}

// A sample that was refused is offered again by the next poll.
void DataReader::report_room() {
  if (!refused_) return;
  refused_ = false;
  core().look_at({});
}

Status DataReader::delete_contained_entities() {
  Lock held = lock();
  if (Status status = check_no_loans(); !status) return status;
  conditions_.clear();
  return {};
}

Status DataReader::check_no_loans() const {
  const std::size_t count = cache_ ? cache_->loan_count() : 0;
  if (count == 0) return {};
  return failure(Errc::precondition_not_met, "topic '{}': {} samples are on loan; give them back first",
                 topic_->name(), count);
}

std::size_t DataReader::loan_count() const {
  Lock held = lock();
  return cache_ ? cache_->loan_count() : 0;
}

Result<InstanceHandle> DataReader::lookup_instance(std::span<const std::byte> sample) const {
  const types::TypeSupport& type = *topic_->type();
  if (!type.is_keyed()) {
    Lock held = lock();
    return cache_ && cache_->knows_instance(0) ? dcps::instance_handle(0) : handle_nil;
  }
  auto key = type.key_of(sample);
  if (!key) return propagate(key);
  const std::uint64_t key_hash = type.hash_of(*key);
  Lock held = lock();
  return cache_ && cache_->has_key(key_hash, *key) ? dcps::instance_handle(key_hash) : handle_nil;
}

Result<std::vector<std::byte>> DataReader::key_value(InstanceHandle instance) const {
  Lock held = lock();
  if (Status status = check_usable(); !status) return propagate(status);
  if (instance != dcps::instance_handle(instance.low)) {
    return failure(Errc::not_found, "topic '{}': the handle names no instance", topic_->name());
  }
  auto key = cache_->key_value(instance.low);
  if (!key) return key;
  return topic_->type()->sample_of_key(*key);
}

// Histories lie in the writers' memory: when all writers that are known are matched, what there is has
// arrived when a look there finds nothing new.
Status DataReader::wait_for_historical_data(Duration at_most) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (qos_.durability.kind == qos::DurabilityKind::volatile_) return {};
  int quiet_count = 0;
  const auto is_complete = [&] {
    const std::uint64_t before = arrival_count_;
    (void)core().poll();
    if (refused_ || cache_->has_samples_aside() || arrival_count_ != before ||
        participant_entity().awaits_history(*this) || (endpoint_ && endpoint_->awaits_past()))
      return false;
    return ++quiet_count >= 2;
  };
  (void)is_complete();
  const auto complete = await(held, at_most, is_complete);
  if (!complete) return tl::unexpected<Error>(complete.error());
  if (*complete) return {};
  return failure(Errc::timeout, "topic '{}': the history is not complete after {}: {}", topic_->name(),
                 qos::to_string(at_most),
                 refused_ || cache_->has_samples_aside() || !endpoint_ || !endpoint_->awaits_past()
                     ? "samples have to be taken first"
                     : "the persistence service has not given all that it keeps");
}

void DataReader::advance(Now now) {
  if (cache_) cache_->advance(now);
}

std::chrono::nanoseconds DataReader::next_wakeup() const { return cache_ ? cache_->next_wakeup() : never; }

// Turns what happened in the cache into statuses.
void DataReader::report_news() {
  if (cache_->take_data_alone()) return report_data();
  const ReaderCacheNews news = cache_->take_news();
  if (news.lost_count > 0) {
    lost_.add(news.lost_count);
    raise(status::sample_lost);
  }
  for (const ReaderCacheNews::Rejected& rejected : news.rejected) {
    rejected_.add();
    rejected_.last_reason = rejected.reason;
    rejected_.last_instance_handle = rejected.instance;
    raise(status::sample_rejected);
  }
  for (const ReaderCacheNews::Missed& missed : news.deadlines_missed) {
    deadline_missed_.add(missed.count);
    deadline_missed_.last_instance_handle = missed.instance;
    raise(status::requested_deadline_missed);
  }
  if (news.data) report_data();
}

void DataReader::report_data() {
  subscriber_entity().raise(status::data_on_readers);
  raise(status::data_available);
  for (const auto& condition : conditions_) condition->notify();
}

DataReader::MatchedWriter* DataReader::find_writer(const topics::EndpointId& writer) {
  for (MatchedWriter& each : writers_) {
    if (each.info.id == writer) return &each;
  }
  return nullptr;
}

std::vector<InstanceHandle> DataReader::matched_publications() const {
  Lock held = lock();
  std::vector<InstanceHandle> handles;
  for (const MatchedWriter& writer : writers_) handles.push_back(handle_of(writer.info.id));
  return handles;
}

Result<PublicationBuiltinTopicData> DataReader::matched_publication_data(InstanceHandle publication) const {
  Lock held = lock();
  for (const MatchedWriter& writer : writers_) {
    if (handle_of(writer.info.id) == publication) return publication_data(writer.info);
  }
  return failure(Errc::not_found, "topic '{}': no matched publication has this handle", topic_->name());
}

bool DataReader::on_sample(const topics::EndpointId& writer, topics::Sample&& sample) {
  if (find_writer(writer) == nullptr) return true;  // it is ignored
  if (!cache_->on_sample(writer, std::move(sample), core().moment())) {
    refused_ = true;
    return false;
  }
  ++arrival_count_;
  core().look_at(cache_->next_wakeup());
  return true;
}

void DataReader::inject(topics::Sample&& sample) {
  const topics::EndpointId writer{};
  cache_->add_writer({.id = writer});
  (void)cache_->on_sample(writer, std::move(sample), core().now());
}

CacheWriter DataReader::cache_writer(const topics::EndpointInfo& writer) const {
  return {.id = writer.id,
          .publisher = writer.publisher,
          .strength = writer.qos.datawriter.ownership_strength.value,
          .lifespan = writer.qos.datawriter.lifespan.duration,
          .passed_set = subscriber_entity().ended_through(writer.id.participant, writer.publisher)};
}

void DataReader::on_matched(const topics::EndpointInfo& writer) {
  if (core().ignored().has(writer)) return;
  cache_->add_writer(cache_writer(writer));
  writers_.push_back({writer, true});
  const InstanceHandle handle = handle_of(writer.id);
  matched_.matched(handle);
  raise(status::subscription_matched);
  count_liveliness(handle, 1, 0);
}

void DataReader::count_liveliness(InstanceHandle writer, std::int32_t alive, std::int32_t not_alive) {
  liveliness_changed_.alive_count += alive;
  liveliness_changed_.alive_count_change += alive;
  liveliness_changed_.not_alive_count += not_alive;
  liveliness_changed_.not_alive_count_change += not_alive;
  liveliness_changed_.last_publication_handle = writer;
  raise(status::liveliness_changed);
}

void DataReader::on_qos_changed(const topics::EndpointInfo& writer) {
  MatchedWriter* known = find_writer(writer.id);
  if (known == nullptr) return;
  known->info = writer;
  cache_->update_writer(cache_writer(writer));
}

void DataReader::on_unmatched(const topics::EndpointId& writer, bool) {
  const MatchedWriter* known = find_writer(writer);
  if (known == nullptr) return;
  count_liveliness(handle_of(writer), known->alive ? -1 : 0, known->alive ? 0 : -1);
  std::erase_if(writers_, [&](const MatchedWriter& each) { return each.info.id == writer; });
  cache_->remove_writer(writer, core().now());
  matched_.unmatched(handle_of(writer));
  raise(status::subscription_matched);
}

void DataReader::on_liveliness_changed(const topics::EndpointId& writer, bool alive) {
  MatchedWriter* known = find_writer(writer);
  if (known == nullptr || known->alive == alive) return;
  known->alive = alive;
  if (!alive) cache_->writer_not_alive(writer, core().now());
  count_liveliness(handle_of(writer), alive ? 1 : -1, alive ? -1 : 1);
}

void DataReader::on_incompatible(const topics::EndpointInfo& writer,
                                 const std::vector<qos::Incompatibility>& why) {
  if (core().ignored().has(writer)) return;
  count_incompatible(incompatible_qos_, why);
  raise(status::requested_incompatible_qos);
}

void DataReader::on_samples_lost(const topics::EndpointId& writer, std::uint64_t count) {
  if (find_writer(writer) != nullptr) cache_->on_samples_lost(writer, count);
}

void DataReader::on_known_sample(const topics::EndpointId& writer, const topics::SampleHeader& header) {
  if (find_writer(writer) != nullptr) cache_->on_known_sample(writer, header, core().moment());
}

void DataReader::ignore_writers() {
  for (std::size_t k = writers_.size(); k-- > 0;) {
    if (core().ignored().has(writers_[k].info)) on_unmatched(topics::EndpointId(writers_[k].info.id), false);
  }
}

void DataReader::forget_writers() {
  while (!writers_.empty()) on_unmatched(topics::EndpointId(writers_.back().info.id), true);
}

std::function<void(Listener&)> DataReader::listener_call(StatusMask status) {
  const auto self = std::static_pointer_cast<DataReader>(shared_from_this());
  switch (status) {
    case status::requested_deadline_missed:
      return call_of(self, &DataReaderListener::on_requested_deadline_missed,
                     take_status(deadline_missed_, status));
    case status::requested_incompatible_qos:
      return call_of(self, &DataReaderListener::on_requested_incompatible_qos,
                     take_status(incompatible_qos_, status));
    case status::sample_rejected:
      return call_of(self, &DataReaderListener::on_sample_rejected, take_status(rejected_, status));
    case status::sample_lost:
      return call_of(self, &DataReaderListener::on_sample_lost, take_status(lost_, status));
    case status::liveliness_changed:
      return call_of(self, &DataReaderListener::on_liveliness_changed,
                     take_status(liveliness_changed_, status));
    case status::subscription_matched:
      return call_of(self, &DataReaderListener::on_subscription_matched, take_status(matched_, status));
    case status::data_available:
      clear_status(status);
      return call_of(self, &DataReaderListener::on_data_available);
    default:
      return {};
  }
}

}  // namespace llamada::dcps
