#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llamada/dcps/data_writer.hpp"
#include "llamada/dcps/entity.hpp"
#include "llamada/dcps/topic.hpp"

namespace llamada::dcps {

/// Makes DataWriters and has the policies that they share (DDS 1.4, 2.2.2.4.1). Made by
/// DomainParticipant::create_publisher().
class Publisher final : public ConfiguredEntity<qos::PublisherQos, PublisherListener> {
 public:
  ~Publisher() override;

  /// Errors: inconsistent_policy, unsupported, precondition_not_met (the topic is another participant's),
  /// closed, out_of_resources.
  Result<std::shared_ptr<DataWriter>> create_datawriter(const std::shared_ptr<Topic>& topic,
                                                        const qos::DataWriterQos& qos,
                                                        DataWriterListener* listener = nullptr,
                                                        StatusMask mask = status::all);
  /// Unregisters all of its instances first. Errors: precondition_not_met (not of this publisher).
  Status delete_datawriter(const std::shared_ptr<DataWriter>& writer);
  /// One that is of this topic; nothing: there is none.
  std::shared_ptr<DataWriter> lookup_datawriter(const std::string& topic_name) const;
  std::vector<std::shared_ptr<DataWriter>> datawriters() const;
  Status delete_contained_entities();

  /// Changes until resume_publications() may be held back. They are not here.
  Status suspend_publications();
  /// Errors: precondition_not_met (nothing is suspended).
  Status resume_publications();

  /// All changes by its writers until the matching end_coherent_changes() are one set, if PRESENTATION has
  /// coherent_access. May be nested.
  Status begin_coherent_changes();
  /// Errors: precondition_not_met (nothing was begun); timeout (a writer had no room for the end of its set).
  Status end_coherent_changes();

  /// Of all its writers. Errors: timeout, closed (it or one of them was deleted meanwhile).
  Status wait_for_acknowledgments(Duration at_most);

  qos::DataWriterQos default_datawriter_qos() const;
  /// Errors: inconsistent_policy.
  Status set_default_datawriter_qos(const qos::DataWriterQos& qos);
  std::shared_ptr<DomainParticipant> participant() const;

 private:
  friend class DomainParticipant;
  friend class DataWriter;
  Publisher(std::shared_ptr<detail::Core> core, Entity* participant, std::uint64_t number,
            const qos::PublisherQos& qos);

  bool enables_children() const override { return qos_.entity_factory.autoenable_created_entities; }
  void enable_children() override;
  Status apply_qos(const qos::PublisherQos& qos) override;
  void remove(Lock& held, std::shared_ptr<DataWriter> writer);
  bool is_group() const { return qos_.presentation.access_scope == qos::PresentationAccessScope::group; }
  std::uint32_t open_set() const { return coherent_depth_ > 0 ? coherent_set_ : 0; }

  const std::uint64_t number_;
  std::vector<std::shared_ptr<DataWriter>> writers_;
  qos::DataWriterQos default_datawriter_qos_;
  std::uint32_t suspend_depth_ = 0;
  std::uint32_t coherent_depth_ = 0;
  std::uint32_t coherent_set_ = 0;
  std::uint64_t group_sequence_ = 0;
};

}  // namespace llamada::dcps
