#pragma once

#include <memory>
#include <optional>

#include "dds/core/entity.hpp"
#include "dds/core/qos.hpp"

namespace dds::core {

namespace detail {
class QosFiles;
}

/// The policies of a file in DDS-XML (docs/qos.md; ISO C++ PSM, 7.5.6). `id` names an entity's element,
/// "Library::Profile" or "Library::Profile::Name"; without one the provider's profile counts, or the only one
/// of the file. A wrong file throws InvalidArgumentError, with file and line. It is a reference, as in the
/// PSM: copies share the file that was read. Any thread.
class QosProvider : public Reference<detail::QosFiles> {
 public:
  using Reference::Reference;
  /// `uri`: a path, with or without "file://".
  explicit QosProvider(const std::string& uri);
  QosProvider(const std::string& uri, const std::string& profile);
  /// Reads the files in the environment variable LLAMADA_QOS_PROFILES (`:` or `;` between them), anew at
  /// each call. Without the variable it has only the standard's defaults.
  static QosProvider Default();

  domain::qos::DomainParticipantQos participant_qos() const { return participant_qos_of(std::nullopt); }
  domain::qos::DomainParticipantQos participant_qos(const std::string& id) const {
    return participant_qos_of(id);
  }
  topic::qos::TopicQos topic_qos() const { return topic_qos_of(std::nullopt); }
  topic::qos::TopicQos topic_qos(const std::string& id) const { return topic_qos_of(id); }
  pub::qos::PublisherQos publisher_qos() const { return publisher_qos_of(std::nullopt); }
  pub::qos::PublisherQos publisher_qos(const std::string& id) const { return publisher_qos_of(id); }
  pub::qos::DataWriterQos datawriter_qos() const { return datawriter_qos_of(std::nullopt, std::nullopt); }
  pub::qos::DataWriterQos datawriter_qos(const std::string& id) const {
    return datawriter_qos_of(id, std::nullopt);
  }
  sub::qos::SubscriberQos subscriber_qos() const { return subscriber_qos_of(std::nullopt); }
  sub::qos::SubscriberQos subscriber_qos(const std::string& id) const { return subscriber_qos_of(id); }
  sub::qos::DataReaderQos datareader_qos() const { return datareader_qos_of(std::nullopt, std::nullopt); }
  sub::qos::DataReaderQos datareader_qos(const std::string& id) const {
    return datareader_qos_of(id, std::nullopt);
  }

  /// Takes the first element whose topic_filter fits the topic. Not in the standard.
  pub::qos::DataWriterQos datawriter_qos_for_topic(const std::string& topic) const {
    return datawriter_qos_of(std::nullopt, topic);
  }
  sub::qos::DataReaderQos datareader_qos_for_topic(const std::string& topic) const {
    return datareader_qos_of(std::nullopt, topic);
  }

 private:
  /// Nothing: the provider's own profile.
  using Name = std::optional<std::string>;
  domain::qos::DomainParticipantQos participant_qos_of(const Name& id) const;
  topic::qos::TopicQos topic_qos_of(const Name& id) const;
  pub::qos::PublisherQos publisher_qos_of(const Name& id) const;
  pub::qos::DataWriterQos datawriter_qos_of(const Name& id, const Name& topic) const;
  sub::qos::SubscriberQos subscriber_qos_of(const Name& id) const;
  sub::qos::DataReaderQos datareader_qos_of(const Name& id, const Name& topic) const;
};

}  // namespace dds::core
