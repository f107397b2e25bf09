#include "llamada/dcps/data_writer.hpp"

#include <algorithm>
#include <utility>

#include "coherent_sets.hpp"
#include "core.hpp"
#include "endpoint_statuses.hpp"
#include "listener_call.hpp"
#include "llamada/dcps/publisher.hpp"
#include "writer_cache.hpp"

namespace llamada::dcps {

using topics::ChangeKind;

namespace {

/// A writer that is deleted waits no longer for room to tell that it disposes of its instances.
constexpr Duration closing_wait_max = std::chrono::seconds(1);

}  // namespace

// One change of an instance, before it has a place in the writer's order.
struct DataWriter::Change {
  std::uint64_t key_hash = 0;
  std::vector<std::byte> key;
  ChangeKind kind = ChangeKind::alive;
  OptionalTimestamp timestamp;  // none: that of the moment in which it is published
};

WriteLoan& WriteLoan::operator=(WriteLoan&& other) noexcept {
  if (this == &other) return *this;
  if (writer_ != nullptr) drop();
  writer_ = std::exchange(other.writer_, nullptr);
  loan_ = std::move(other.loan_);
  return *this;
}

void WriteLoan::drop() {
  DataWriter* writer = std::exchange(writer_, nullptr);
  if (!writer->core().is_of_this_process())
    return keep_for_good(std::make_shared<topics::Loan>(std::move(loan_)));
  std::shared_ptr<DataWriter> self;  // goes after the lock
  detail::Lock held = writer->lock();
  loan_.drop();
  self = writer->loan_dropped();
}

DataWriter::DataWriter(std::shared_ptr<detail::Core> core, Publisher& publisher, std::shared_ptr<Topic> topic,
                       const qos::DataWriterQos& qos)
    : ConfiguredEntity(std::move(core), &publisher, qos),
      topic_(std::move(topic)),
      is_keyed_(topic_->type()->is_keyed()),
      cache_(std::make_unique<WriterCache>(qos)) {}

DataWriter::~DataWriter() = default;

Publisher& DataWriter::publisher_entity() const { return static_cast<Publisher&>(*parent_); }

std::shared_ptr<Publisher> DataWriter::publisher() const {
  Lock held = lock();
  return parent_ == nullptr ? nullptr : std::static_pointer_cast<Publisher>(parent_->shared_from_this());
}

Status DataWriter::on_enable() {
  cache_->set_qos(qos_, core().now());
  const topics::EndpointSpec spec = topic_->endpoint_spec(
      qos::endpoint_qos(qos_, publisher_entity().qos_, topic_->qos_.topic_data), publisher_entity().number_);
  auto endpoint = core().make_endpoint([&] { return core().participant().create_writer(spec, *this); });
  if (!endpoint) return propagate(endpoint);
  endpoint_ = std::move(*endpoint);
  handle_ = handle_of(endpoint_->id());
  core().entities().add(*this);
  core().look_at({});
  return {};
}

// What the publisher calls when it deletes the writer.
void DataWriter::leave(Lock& held) {
  closing_ = true;
  core().look_at({});  // calls that wait for room or for acknowledgments end
  if (enabled_ && endpoint_) dispose_all(held);
  core().entities().remove(*this);
  if (write_loans_ > 0) self_ = std::static_pointer_cast<DataWriter>(shared_from_this());
  mark_deleted(held);
  if (write_loans_ == 0) endpoint_.reset();
}

// What has kept a deleted writer until now: to be let go of without the lock.
std::shared_ptr<DataWriter> DataWriter::loan_dropped() {
  const bool is_over = --write_loans_ == 0 && deleted_;
  if (is_over) endpoint_.reset();
  core().domain().loan_ended();
  return is_over ? std::move(self_) : nullptr;
}

Status DataWriter::apply_qos(const qos::DataWriterQos& qos) {
  if (Status status = update_endpoint_qos(qos, publisher_entity().qos_); !status) return status;
  cache_->set_qos(qos, core().now());
  core().look_at(cache_->next_wakeup());
  return {};
}

Status DataWriter::update_endpoint_qos(const qos::DataWriterQos& writer, const qos::PublisherQos& publisher) {
  if (!endpoint_) return {};
  return endpoint_->set_qos(qos::endpoint_qos(writer, publisher, topic_->qos_.topic_data));
}

void DataWriter::on_topic_changed(const Topic& topic) {
  if (&topic == topic_.get()) (void)update_endpoint_qos(qos_, publisher_entity().qos_);
}

// Tries until there is room, no longer than max_blocking_time.
template <typename Publish>
Status DataWriter::publish_blocking(Lock& held, Publish&& publish) {
  Status outcome = publish();
  if (outcome || outcome.error().code() != Errc::would_block) return outcome;
  std::string reason = outcome.error().text();
  const auto attempt = [&] {
    Status tried = publish();
    if (!tried && tried.error().code() == Errc::would_block) {
      reason = tried.error().text();
      return false;
    }
    outcome = std::move(tried);
    return true;
  };
  const Duration at_most = closing_ ? std::min<Duration>(qos_.reliability.max_blocking_time, closing_wait_max)
                                    : qos_.reliability.max_blocking_time;
  auto published = await(held, at_most, attempt);
  if (!published) return propagate(published);
  if (*published) return outcome;
  return failure(Errc::timeout, "topic '{}': no room within RELIABILITY's max_blocking_time of {}: {}",
                 topic_->name(), qos::to_string(at_most), reason);
}

bool DataWriter::is_by_source() const {
  return qos_.destination_order.kind == qos::DestinationOrderKind::by_source_timestamp;
}

// Readers that order by source drop what is earlier than what they have seen. So the writer's own timestamps
// never go back, even if the clock does, and the program's may not.
Timestamp DataWriter::timestamp_of(const Change& change) const {
  if (change.timestamp) return *change.timestamp;
  const Timestamp now = core().realtime();
  return is_by_source() ? std::max(now, latest_timestamp_) : now;
}

Status DataWriter::check_timestamp(const Change& change) const {
  if (!is_by_source() || !change.timestamp || *change.timestamp >= latest_timestamp_) return {};
  return failure(Errc::invalid_argument,
                 "topic '{}': the source timestamp {} is earlier than {}, which this writer used before, and "
                 "its DESTINATION_ORDER is BY_SOURCE_TIMESTAMP",
                 topic_->name(), qos::to_string(*change.timestamp), qos::to_string(latest_timestamp_));
}

topics::SampleHeader DataWriter::header_of(const Change& change) const {
  const Publisher& publisher = publisher_entity();
  topics::SampleHeader header;
  header.source_timestamp_ns = timestamp_of(change).count();
  header.instance = change.key_hash;
  header.kind = change.kind;
  header.coherent_set = publisher.open_set();
  if (publisher.is_group()) header.group_sequence = publisher.group_sequence_ + 1;
  return header;
}

void DataWriter::published(const Change& change, const topics::SampleHeader& header) {
  latest_timestamp_ = std::max(latest_timestamp_, Timestamp(header.source_timestamp_ns));
  Publisher& publisher = publisher_entity();
  if (publisher.open_set() != 0) ++set_samples_;
  if (publisher.is_group()) ++publisher.group_sequence_;
  if (!cache_->keeps_deadlines()) return;
  if (change.kind == ChangeKind::alive)
    cache_->wrote(change.key_hash, core().now());
  else
    cache_->disposed(change.key_hash);
  core().look_at(cache_->next_wakeup());
}

Status DataWriter::publish_change(Lock& held, const Change& change, std::span<const std::byte> payload) {
  if (Status status = check_timestamp(change); !status) return status;
  return publish_blocking(held, [&]() -> Status {
    const topics::SampleHeader header = header_of(change);
    auto number = endpoint_->publish(payload, header);
    if (!number) return propagate(number);
    published(change, header);
    return {};
  });
}

// What a write of the sample changes, and when.
Status DataWriter::describe(Change& change, std::span<const std::byte> sample, InstanceHandle instance,
                            const OptionalTimestamp& timestamp) const {
  change.timestamp = timestamp;
  if (is_keyed_)
    if (Status status = identify(change, sample); !status) return status;
  if (!instance.is_nil() && instance != dcps::instance_handle(change.key_hash)) {
    return failure(Errc::precondition_not_met, "topic '{}': the handle is not that of the sample's instance",
                   topic_->name());
  }
  return {};
}

Status DataWriter::identify(Change& change, std::span<const std::byte> sample) const {
  auto key = topic_->type()->key_of(sample);
  if (!key) return propagate(key);
  change.key_hash = topic_->type()->hash_of(*key);
  change.key = std::move(*key);
  return {};
}

// Registers the instance if it is new: the first write does it, too.
Status DataWriter::register_change(Change& change) {
  if (change.key_hash == 0) return {};
  const Status status = cache_->register_instance(change.key_hash, std::move(change.key));
  if (status) return {};
  return failure(status.error().code(), "topic '{}': {}", topic_->name(), status.error().text());
}

Status DataWriter::write(std::span<const std::byte> sample, InstanceHandle instance,
                         const OptionalTimestamp& timestamp) {
  Change change;
  if (Status status = describe(change, sample, instance, timestamp); !status) return propagate(status);
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (Status status = register_change(change); !status) return status;
  return publish_change(held, change, sample);
}

Result<WriteLoan> DataWriter::loan_sample(std::size_t size_bytes) {
  Result<WriteLoan> lent;
  if (Status status = loan_sample(size_bytes, *lent); !status) lent = propagate(status);
  return lent;
}

Status DataWriter::loan_sample(std::size_t size_bytes, WriteLoan& into) {
  if (into) into.drop();
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  Status status = publish_blocking(held, [&] { return endpoint_->loan(size_bytes, into.loan_); });
  if (!status) return status;
  ++write_loans_;
  core().domain().loan_began();
  into.writer_ = this;
  return {};
}

Status DataWriter::write(WriteLoan&& loan, InstanceHandle instance, const OptionalTimestamp& timestamp) {
  if (loan.writer_ != this) return failure(Errc::precondition_not_met, "the loan is not of this writer");
  Change change;
  if (Status status = describe(change, loan.data(), instance, timestamp); !status) return propagate(status);
  std::shared_ptr<DataWriter> self;  // goes after the lock
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (Status status = register_change(change); !status) return status;
  if (Status status = check_timestamp(change); !status) return status;
  Status status = publish_blocking(held, [&]() -> Status {
    const topics::SampleHeader header = header_of(change);
    auto number = endpoint_->publish(std::move(loan.loan_), header);
    if (!number) return propagate(number);
    published(change, header);
    return {};
  });
  if (!status) return status;
  loan.writer_ = nullptr;  // its sample is this one's now
  self = loan_dropped();
  return {};
}

Result<InstanceHandle> DataWriter::register_instance(std::span<const std::byte> sample,
                                                     OptionalTimestamp timestamp) {
  Change change;
  if (Status status = describe(change, sample, handle_nil, timestamp); !status) return propagate(status);
  Lock held = lock();
  if (Status status = check_usable(); !status) return propagate(status);
  if (change.key_hash == 0) return handle_nil;
  if (Status status = register_change(change); !status) return propagate(status);
  return dcps::instance_handle(change.key_hash);
}

Status DataWriter::unregister_instance(InstanceHandle instance, OptionalTimestamp timestamp) {
  return end_life(instance, EndOfLife::unregister, timestamp);
}

Status DataWriter::unregister_instance(std::span<const std::byte> sample, InstanceHandle instance,
                                       OptionalTimestamp timestamp) {
  return end_life(sample, instance, EndOfLife::unregister, timestamp);
}

Status DataWriter::dispose(InstanceHandle instance, OptionalTimestamp timestamp) {
  return end_life(instance, EndOfLife::dispose, timestamp);
}

Status DataWriter::dispose(std::span<const std::byte> sample, InstanceHandle instance,
                           OptionalTimestamp timestamp) {
  return end_life(sample, instance, EndOfLife::dispose, timestamp);
}

Status DataWriter::end_life(InstanceHandle instance, EndOfLife end, OptionalTimestamp timestamp) {
  Change change;
  change.key_hash = instance.low;
  change.timestamp = timestamp;
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (!is_keyed_) return {};
  if (instance != dcps::instance_handle(change.key_hash) || !cache_->is_registered(change.key_hash)) {
    return failure(Errc::precondition_not_met, "topic '{}': the writer has not registered the instance",
                   topic_->name());
  }
  return end_life(held, change, end);
}

Status DataWriter::end_life(std::span<const std::byte> sample, InstanceHandle instance, EndOfLife end,
                            OptionalTimestamp timestamp) {
  Change change;
  if (Status status = describe(change, sample, instance, timestamp); !status) return propagate(status);
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  if (change.key_hash == 0) return {};
  if (end == EndOfLife::unregister && !cache_->is_registered(change.key_hash)) {
    return failure(Errc::precondition_not_met, "topic '{}': the writer has not registered the instance",
                   topic_->name());
  }
  if (Status status = register_change(change); !status) return status;
  return end_life(held, std::move(change), end);
}

// The payload is the key alone.
Status DataWriter::end_life(Lock& held, Change change, EndOfLife end) {
  auto key = cache_->key(change.key_hash);
  if (!key) return propagate(key);
  if (end == EndOfLife::dispose) {
    change.kind = ChangeKind::disposed;
  } else if (qos_.writer_data_lifecycle.autodispose_unregistered_instances) {
    change.kind = ChangeKind::disposed_unregistered;
  } else {
    change.kind = ChangeKind::unregistered;
  }
  if (Status status = publish_change(held, change, *key); !status) return status;
  if (end == EndOfLife::unregister) (void)cache_->unregister_instance(change.key_hash);
  return {};
}

// A writer that is deleted unregisters its instances (DDS 1.4, 2.2.2.4.1.6). Readers see that by themselves;
// that this disposes, too, must be told.
void DataWriter::dispose_all(Lock& held) {
  if (!qos_.writer_data_lifecycle.autodispose_unregistered_instances) return;
  for (const std::uint64_t key_hash : cache_->instances()) {
    if (key_hash == 0) continue;
    Change change;
    change.key_hash = key_hash;
    if (!end_life(held, change, EndOfLife::unregister)) return;  // nobody makes room
  }
}

Result<InstanceHandle> DataWriter::lookup_instance(std::span<const std::byte> sample) const {
  Change change;
  if (Status status = describe(change, sample, handle_nil, std::nullopt); !status) return propagate(status);
  Lock held = lock();
  return cache_->has_key(change.key_hash, change.key) ? dcps::instance_handle(change.key_hash) : handle_nil;
}

Result<std::vector<std::byte>> DataWriter::key_value(InstanceHandle instance) const {
  if (instance != dcps::instance_handle(instance.low)) {
    return failure(Errc::not_found, "topic '{}': the handle names no instance", topic_->name());
  }
  Lock held = lock();
  auto key = cache_->key(instance.low);
  if (!key) return key;
  return topic_->type()->sample_of_key(*key);
}

Status DataWriter::end_coherent_set(Lock& held, std::uint32_t set, bool of_group) {
  const std::uint32_t count = std::exchange(set_samples_, 0);
  if (!enabled_ || deleted_ || (count == 0 && !of_group)) return {};
  topics::SampleHeader header;
  header.source_timestamp_ns = core().now().realtime.count();
  header.kind = ChangeKind::coherent_end;
  header.coherent_set = set;
  const std::vector<std::byte> payload = coherent_end_payload(count);
  return publish_blocking(held, [&]() -> Status {
    auto number = endpoint_->publish(payload, header);
    if (!number) return propagate(number);
    return {};
  });
}

Status DataWriter::wait_for_acknowledgments(Duration at_most) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  auto acknowledged = await(held, at_most, [this] { return endpoint_->all_acknowledged(); });
  if (!acknowledged) return propagate(acknowledged);
  if (*acknowledged) return {};
  return failure(Errc::timeout, "topic '{}': after {} {}", topic_->name(), qos::to_string(at_most),
                 unacknowledged());
}

// What a wait for acknowledgments lacks.
std::string_view DataWriter::unacknowledged() const {
  if (qos_.durability.kind != qos::DurabilityKind::persistent) return "not all readers have all samples";
  if (endpoint_ && endpoint_->has_keeper())
    return "not all readers have all samples, or the persistence service has not kept all of them";
  return "no persistence service keeps this topic, as PERSISTENT needs; start llamada-persistd";
}

Status DataWriter::assert_liveliness() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  endpoint_->assert_liveliness();
  return {};
}

void DataWriter::advance(Now now) {
  for (const WriterCache::Missed& missed : cache_->advance(now)) {
    deadline_missed_.add(missed.count);
    deadline_missed_.last_instance_handle = dcps::instance_handle(missed.instance);
    raise(status::offered_deadline_missed);
  }
}

std::chrono::nanoseconds DataWriter::next_wakeup() const { return cache_->next_wakeup(); }

std::vector<InstanceHandle> DataWriter::matched_subscriptions() const {
  Lock held = lock();
  std::vector<InstanceHandle> handles;
  for (const topics::EndpointInfo& reader : readers_) handles.push_back(handle_of(reader.id));
  return handles;
}

Result<SubscriptionBuiltinTopicData> DataWriter::matched_subscription_data(
    InstanceHandle subscription) const {
  Lock held = lock();
  for (const topics::EndpointInfo& reader : readers_) {
    if (handle_of(reader.id) == subscription) return subscription_data(reader);
  }
  return failure(Errc::not_found, "topic '{}': no matched subscription has this handle", topic_->name());
}

void DataWriter::on_matched(const topics::EndpointInfo& reader) {
  if (core().ignored().has(reader)) return;
  readers_.push_back(reader);
  matched_.matched(handle_of(reader.id));
  raise(status::publication_matched);
}

void DataWriter::on_qos_changed(const topics::EndpointInfo& reader) {
  for (topics::EndpointInfo& each : readers_) {
    if (each.id == reader.id) each = reader;
  }
}

void DataWriter::on_unmatched(const topics::EndpointId& reader, bool) {
  if (std::erase_if(readers_, [&](const auto& each) { return each.id == reader; }) == 0) return;
  matched_.unmatched(handle_of(reader));
  raise(status::publication_matched);
}

void DataWriter::on_incompatible(const topics::EndpointInfo& reader,
                                 const std::vector<qos::Incompatibility>& why) {
  if (core().ignored().has(reader)) return;
  count_incompatible(incompatible_qos_, why);
  raise(status::offered_incompatible_qos);
}

void DataWriter::ignore_readers() {
  for (std::size_t k = readers_.size(); k-- > 0;) {
    if (core().ignored().has(readers_[k])) on_unmatched(topics::EndpointId(readers_[k].id), false);
  }
}

void DataWriter::forget_readers() {
  while (!readers_.empty()) on_unmatched(topics::EndpointId(readers_.back().id), true);
}

void DataWriter::on_liveliness_lost() {
  liveliness_lost_.add();
  raise(status::liveliness_lost);
}

std::function<void(Listener&)> DataWriter::listener_call(StatusMask status) {
  const auto self = std::static_pointer_cast<DataWriter>(shared_from_this());
  switch (status) {
    case status::offered_deadline_missed:
      return call_of(self, &DataWriterListener::on_offered_deadline_missed,
                     take_status(deadline_missed_, status));
    case status::offered_incompatible_qos:
      return call_of(self, &DataWriterListener::on_offered_incompatible_qos,
                     take_status(incompatible_qos_, status));
    case status::liveliness_lost:
      return call_of(self, &DataWriterListener::on_liveliness_lost, take_status(liveliness_lost_, status));
    case status::publication_matched:
      return call_of(self, &DataWriterListener::on_publication_matched, take_status(matched_, status));
    default:
      return {};
  }
}

}  // namespace llamada::dcps
