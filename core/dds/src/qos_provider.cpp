#include "dds/core/qos_provider.hpp"

#include <cstdlib>
#include <sstream>

#include "llamada/qos_xml/qos_provider.hpp"

namespace dds::core {

namespace {

using Files = std::shared_ptr<const llamada::qos::QosProvider>;

Files load(std::span<const std::string> uris) {
  constexpr std::string_view scheme = "file://";
  std::vector<std::filesystem::path> files;
  for (std::string_view uri : uris) {
    if (uri.starts_with(scheme)) uri.remove_prefix(scheme.size());
    files.emplace_back(uri);
  }
  return std::make_shared<llamada::qos::QosProvider>(
      detail::value_of(llamada::qos::QosProvider::load(files)));
}

constexpr const char* default_files = "LLAMADA_QOS_PROFILES";

std::vector<std::string> default_uris() {
  const char* list = std::getenv(default_files);
  std::vector<std::string> uris;
  std::istringstream text(list != nullptr ? list : "");
  for (std::string uri; std::getline(text, uri, ';');)
    if (!uri.empty()) uris.push_back(uri);
  return uris;
}

/// `read(files)`; without files the standard's defaults.
template <typename Read>
auto value_or_default(const Files& files, const std::optional<std::string>& id, Read&& read) {
  using Value = typename decltype(read(*files))::value_type;
  if (files) return detail::value_of(read(*files));
  if (id)
    throw InvalidArgumentError("there is no profile '" + *id + "': " + default_files + " names no file");
  return Value();
}

}  // namespace

QosProvider::QosProvider(const std::string& uri) : files_(load({&uri, 1})) {}
QosProvider::QosProvider(const std::string& uri, const std::string& profile)
    : profile_(profile), files_(load({&uri, 1})) {}

QosProvider QosProvider::Default() {
  QosProvider provider{Empty{}};
  if (const auto uris = default_uris(); !uris.empty()) provider.files_ = load(uris);
  return provider;
}

domain::qos::DomainParticipantQos QosProvider::participant_qos_of(const Name& id) const {
  return value_or_default(files_, id, [&](auto& files) { return files.domainparticipant_qos({id}); });
}
topic::qos::TopicQos QosProvider::topic_qos_of(const Name& id) const {
  return value_or_default(files_, id, [&](auto& files) { return files.topic_qos({id}); });
}
pub::qos::PublisherQos QosProvider::publisher_qos_of(const Name& id) const {
  return value_or_default(files_, id, [&](auto& files) { return files.publisher_qos({id}); });
}
pub::qos::DataWriterQos QosProvider::datawriter_qos_of(const Name& id, const Name& topic) const {
  return value_or_default(files_, id, [&](auto& files) { return files.datawriter_qos({id, topic}); });
}
sub::qos::SubscriberQos QosProvider::subscriber_qos_of(const Name& id) const {
  return value_or_default(files_, id, [&](auto& files) { return files.subscriber_qos({id}); });
}
sub::qos::DataReaderQos QosProvider::datareader_qos_of(const Name& id, const Name& topic) const {
  return value_or_default(files_, id, [&](auto& files) { return files.datareader_qos({id, topic}); });
}

}  // namespace dds::core
