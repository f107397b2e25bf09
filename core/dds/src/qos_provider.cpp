#include "dds/core/qos_provider.hpp"

#include <array>

#include "llamada/qos_xml/qos_provider.hpp"

namespace dds::core {

namespace {

std::shared_ptr<const llamada::qos::QosProvider> load(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (uri.starts_with(scheme)) uri.remove_prefix(scheme.size());
  const std::array<std::filesystem::path, 1> files{std::filesystem::path(uri)};
  return std::make_shared<llamada::qos::QosProvider>(
      detail::value_of(llamada::qos::QosProvider::load(files)));
}

}  // namespace

QosProvider::QosProvider(const std::string& uri) : files_(load(uri)) {}
QosProvider::QosProvider(const std::string& uri, const std::string& profile)
    : profile_(profile), files_(load(uri)) {}

domain::qos::DomainParticipantQos QosProvider::participant_qos_of(const Name& id) const {
  return detail::value_of(files_->domainparticipant_qos({id}));
}
topic::qos::TopicQos QosProvider::topic_qos_of(const Name& id) const {
  return detail::value_of(files_->topic_qos({id}));
}
pub::qos::PublisherQos QosProvider::publisher_qos_of(const Name& id) const {
  return detail::value_of(files_->publisher_qos({id}));
}
pub::qos::DataWriterQos QosProvider::datawriter_qos_of(const Name& id, const Name& topic) const {
  return detail::value_of(files_->datawriter_qos({id, topic}));
}
sub::qos::SubscriberQos QosProvider::subscriber_qos_of(const Name& id) const {
  return detail::value_of(files_->subscriber_qos({id}));
}
sub::qos::DataReaderQos QosProvider::datareader_qos_of(const Name& id, const Name& topic) const {
  return detail::value_of(files_->datareader_qos({id, topic}));
}

}  // namespace dds::core
