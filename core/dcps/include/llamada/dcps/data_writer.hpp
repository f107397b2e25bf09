#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llamada/dcps/builtin_topics.hpp"
#include "llamada/dcps/entity.hpp"
#include "llamada/dcps/time.hpp"
#include "llamada/dcps/topic.hpp"
#include "llamada/topics/participant.hpp"

namespace llamada::dcps {

class Publisher;
class WriterCache;

/// Room for one sample in the writer's memory, to be filled and given to DataWriter::write(). Dropping it
/// gives the room back. Move-only; keeps its writer.
class WriteLoan {
 public:
  WriteLoan() {}  // NOLINT: a defaulted one would first be zeroed as a whole
  WriteLoan(WriteLoan&& other) noexcept
      : writer_(std::exchange(other.writer_, nullptr)), loan_(std::move(other.loan_)) {}
  WriteLoan& operator=(WriteLoan&& other) noexcept;
  ~WriteLoan() {
    if (writer_ != nullptr) drop();
  }

  /// Aligned to 64 bytes; to 8 for at most 48 bytes.
  std::span<std::byte> data() const { return loan_.data(); }
  explicit operator bool() const { return writer_ != nullptr; }

 private:
  friend class DataWriter;
  void drop();

  DataWriter* writer_ = nullptr;  // stays while it has lent room
  topics::Loan loan_;
};

/// Writes samples of one topic (DDS 1.4, 2.2.2.4.2). Samples are the bytes of types::TypeSupport. Made by
/// Publisher::create_datawriter().
///
/// A write that finds no room waits up to RELIABILITY's max_blocking_time and then fails with Errc::timeout;
/// if the writer is deleted meanwhile, at once with Errc::closed. The deletion itself waits up to
/// max_blocking_time, but no more than a second, for room to say that the writer's instances are disposed of.
/// An `instance` may always be handle_nil; one that is not the sample's is Errc::precondition_not_met.
/// Without a `timestamp` it is the moment in which the change finds room. With DESTINATION_ORDER
/// BY_SOURCE_TIMESTAMP an earlier one than before is Errc::invalid_argument, and the writer's own never go
/// back. All operations but the getters fail with not_enabled
/// and closed, too.
class DataWriter final : public ConfiguredEntity<qos::DataWriterQos, DataWriterListener>,
                         private topics::WriterEvents {
 public:
  using OptionalTimestamp = std::optional<Timestamp>;

  ~DataWriter() override;

  /// Errors: timeout, out_of_resources (max_instances, or memory), parse_error (the key),
  /// precondition_not_met.
  Status write(std::span<const std::byte> sample, InstanceHandle instance = handle_nil,
               const OptionalTimestamp& timestamp = std::nullopt);
  /// Room for a sample that is then not copied. Errors: timeout, out_of_resources.
  Result<WriteLoan> loan_sample(std::size_t size_bytes);
  /// The same, in place of what `into` has, which is dropped before.
  Status loan_sample(std::size_t size_bytes, WriteLoan& into);
  /// As write(); the loan is as it was if it fails.
  Status write(WriteLoan&& loan, InstanceHandle instance = handle_nil,
               const OptionalTimestamp& timestamp = std::nullopt);

  // The life of instances (DDS 1.4, 2.2.2.4.2.5 to 2.2.2.4.2.14). For topics without key these do nothing. Of
  // a `sample` only the key counts.

  Result<InstanceHandle> register_instance(std::span<const std::byte> sample,
                                           OptionalTimestamp timestamp = std::nullopt);
  /// Disposes, too, if WRITER_DATA_LIFECYCLE says so. Errors: precondition_not_met (not registered), timeout.
  Status unregister_instance(InstanceHandle instance, OptionalTimestamp timestamp = std::nullopt);
  Status unregister_instance(std::span<const std::byte> sample, InstanceHandle instance = handle_nil,
                             OptionalTimestamp timestamp = std::nullopt);
  Status dispose(InstanceHandle instance, OptionalTimestamp timestamp = std::nullopt);
  Status dispose(std::span<const std::byte> sample, InstanceHandle instance = handle_nil,
                 OptionalTimestamp timestamp = std::nullopt);
  /// handle_nil if it is not registered. Errors: parse_error.
  Result<InstanceHandle> lookup_instance(std::span<const std::byte> sample) const;
  /// A sample with that key and defaults else. Errors: not_found.
  Result<std::vector<std::byte>> key_value(InstanceHandle instance) const;

  /// Until all RELIABLE readers that are matched have all samples, and, with DURABILITY PERSISTENT, the
  /// persistence service has them on its disk. Errors: timeout (also if no service keeps the topic), closed
  /// (it was deleted meanwhile, and they have not).
  Status wait_for_acknowledgments(Duration at_most);
  Status assert_liveliness();

  OfferedDeadlineMissedStatus offered_deadline_missed_status() {
    return read_status(deadline_missed_, status::offered_deadline_missed);
  }
  OfferedIncompatibleQosStatus offered_incompatible_qos_status() {
    return read_status(incompatible_qos_, status::offered_incompatible_qos);
  }
  LivelinessLostStatus liveliness_lost_status() {
    return read_status(liveliness_lost_, status::liveliness_lost);
  }
  PublicationMatchedStatus publication_matched_status() {
    return read_status(matched_, status::publication_matched);
  }

  std::vector<InstanceHandle> matched_subscriptions() const;
  /// Errors: not_found (not matched).
  Result<SubscriptionBuiltinTopicData> matched_subscription_data(InstanceHandle subscription) const;

  const std::shared_ptr<Topic>& topic() const { return topic_; }
  std::shared_ptr<Publisher> publisher() const;

 private:
  friend class Publisher;
  friend class DomainParticipant;
  friend class WriteLoan;
  friend class detail::ServedEntities;
  struct Change;
  enum class EndOfLife : std::uint8_t { dispose, unregister };

  DataWriter(std::shared_ptr<detail::Core> core, Publisher& publisher, std::shared_ptr<Topic> topic,
             const qos::DataWriterQos& qos);

  Status on_enable() override;
  Status apply_qos(const qos::DataWriterQos& qos) override;
  std::function<void(Listener&)> listener_call(StatusMask status) override;
  void on_matched(const topics::EndpointInfo& reader) override;
  void on_qos_changed(const topics::EndpointInfo& reader) override;
  void on_unmatched(const topics::EndpointId& reader, bool died) override;
  void on_incompatible(const topics::EndpointInfo& reader,
                       const std::vector<qos::Incompatibility>& why) override;
  void on_liveliness_lost() override;

  Publisher& publisher_entity() const;
  std::string_view unacknowledged() const;
  template <typename Publish>
  Status publish_blocking(Lock& held, Publish&& publish);
  Status publish_change(Lock& held, const Change& change, std::span<const std::byte> payload);
  Status describe(Change& change, std::span<const std::byte> sample, InstanceHandle instance,
                  const OptionalTimestamp& timestamp) const;
  Status identify(Change& change, std::span<const std::byte> sample) const;
  Status register_change(Change& change);
  topics::SampleHeader header_of(const Change& change) const;
  bool is_by_source() const;
  Timestamp timestamp_of(const Change& change) const;
  Status check_timestamp(const Change& change) const;
  void published(const Change& change, const topics::SampleHeader& header);
  Status end_life(Lock& held, Change change, EndOfLife end);
  Status end_life(InstanceHandle instance, EndOfLife end, OptionalTimestamp timestamp);
  Status end_life(std::span<const std::byte> sample, InstanceHandle instance, EndOfLife end,
                  OptionalTimestamp timestamp);
  Status end_coherent_set(Lock& held, std::uint32_t set, bool of_group);
  void dispose_all(Lock& held);
  void leave(Lock& held);
  [[nodiscard]] std::shared_ptr<DataWriter> loan_dropped();
  void ignore_readers();
  void forget_readers();
  void on_topic_changed(const Topic& topic);
  Status update_endpoint_qos(const qos::DataWriterQos& writer, const qos::PublisherQos& publisher);
  void advance(Now now);
  std::chrono::nanoseconds next_wakeup() const;

  const std::shared_ptr<Topic> topic_;
  const bool is_keyed_;
  std::unique_ptr<WriterCache> cache_;
  std::unique_ptr<topics::WriterEndpoint> endpoint_;
  std::vector<topics::EndpointInfo> readers_;
  OfferedDeadlineMissedStatus deadline_missed_;
  OfferedIncompatibleQosStatus incompatible_qos_;
  LivelinessLostStatus liveliness_lost_;
  PublicationMatchedStatus matched_;
  Timestamp latest_timestamp_{std::chrono::nanoseconds::min()};  // of all changes
  std::uint32_t set_samples_ = 0;                                // of the coherent set that is open
  std::uint32_t write_loans_ = 0;
  std::shared_ptr<DataWriter> self_;  // once deleted, while room is on loan
};

}  // namespace llamada::dcps
