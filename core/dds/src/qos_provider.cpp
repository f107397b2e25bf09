#include "dds/core/qos_provider.hpp"

#include <cstdlib>
#include <mutex>

#include "llamada/qos_xml/qos_provider.hpp"

namespace dds::core {

namespace detail {

using llamada::qos::QosQuery;

/// What copies of a QosProvider share: the files that were read, if any, and which profile of them counts.
class QosFiles {
 public:
  QosFiles(std::span<const std::filesystem::path> files, std::optional<std::string> profile)
      : profile_(std::move(profile)) {
    if (!files.empty()) files_.emplace(value_of(llamada::qos::QosProvider::load(files)));
  }

  /// `read` one entity's QoS of a profile; without files the standard's defaults.
  template <typename Qos>
  Qos read(llamada::Result<Qos> (llamada::qos::QosProvider::*read)(const QosQuery&) const,
           const std::optional<std::string>& id, const std::optional<std::string>& topic = {}) {
    if (!files_) {
      if (!id) return Qos();
      throw InvalidArgumentError("there is no profile '" + *id +
                                 "': " + llamada::qos::profile_files_variable + " names no file");
    }
    const std::lock_guard held(mutex_);  // the parser's tree changes when it is read
    return value_of(((*files_).*read)({id ? id : profile_, topic}));
  }

 private:
  std::mutex mutex_;
  std::optional<llamada::qos::QosProvider> files_;
  const std::optional<std::string> profile_;
};

}  // namespace detail

namespace {

using Provider = llamada::qos::QosProvider;

std::shared_ptr<detail::QosFiles> read_file(std::string_view uri, std::optional<std::string> profile) {
  constexpr std::string_view scheme = "file://";
  if (uri.starts_with(scheme)) uri.remove_prefix(scheme.size());
  const std::filesystem::path file(uri);
  return std::make_shared<detail::QosFiles>(std::span(&file, 1), std::move(profile));
}

}  // namespace

QosProvider::QosProvider(const std::string& uri) : Reference(read_file(uri, std::nullopt)) {}
QosProvider::QosProvider(const std::string& uri, const std::string& profile)
    : Reference(read_file(uri, profile)) {}

QosProvider QosProvider::Default() {
  const char* list = std::getenv(llamada::qos::profile_files_variable);
  const auto files = llamada::qos::profile_files_of(list != nullptr ? list : "");
  return QosProvider(std::make_shared<detail::QosFiles>(files, std::nullopt));
}

domain::qos::DomainParticipantQos QosProvider::participant_qos_of(const Name& id) const {
  return state().read(&Provider::domainparticipant_qos, id);
}
topic::qos::TopicQos QosProvider::topic_qos_of(const Name& id) const {
  return state().read(&Provider::topic_qos, id);
}
pub::qos::PublisherQos QosProvider::publisher_qos_of(const Name& id) const {
  return state().read(&Provider::publisher_qos, id);
}
pub::qos::DataWriterQos QosProvider::datawriter_qos_of(const Name& id, const Name& topic) const {
  return state().read(&Provider::datawriter_qos, id, topic);
}
sub::qos::SubscriberQos QosProvider::subscriber_qos_of(const Name& id) const {
  return state().read(&Provider::subscriber_qos, id);
}
sub::qos::DataReaderQos QosProvider::datareader_qos_of(const Name& id, const Name& topic) const {
  return state().read(&Provider::datareader_qos, id, topic);
}

}  // namespace dds::core
