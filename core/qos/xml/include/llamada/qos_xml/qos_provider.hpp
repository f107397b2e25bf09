#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/entity_qos.hpp"
#include "llamada/qos/rank_replacement.hpp"
#include "llamada/qos/tuning.hpp"

namespace llamada::qos {

namespace xml {
class Sources;
}

/// Where a value stands in a file.
struct Origin {
  std::string file;
  int line = 0;
  std::string place;  ///< Of the policy, as errors begin: "x.xml:5: dds/qos_library[L]/.../history: ".
};

/// By "datawriter_qos.history.kind", "rank_replacement.kind", "tuning.llamada_eager_bytes_max"; a value
/// without an entry is the default.
using Origins = std::map<std::string, Origin, std::less<>>;

/// A profile for one topic, with all inheritance resolved. Each entity is consistent.
struct ResolvedQos {
  std::string name;   ///< "Library::Profile"
  std::string place;  ///< Of the profile, as errors begin.
  DomainParticipantQos domainparticipant_qos;
  PublisherQos publisher_qos;
  SubscriberQos subscriber_qos;
  TopicQos topic_qos;
  DataWriterQos datawriter_qos;
  DataReaderQos datareader_qos;
  RankReplacement rank_replacement;
  Tuning tuning;  ///< What PROPERTY elements of any entity set.
  /// By "datawriter_qos": how the profile names it. For ranks only; it is no policy of the standard.
  std::map<std::string, std::string, std::less<>> entity_names;
  Origins origins;
  std::vector<std::string> warnings;  ///< Elements without effect that were met.
};

/// each_entity(resolved, visit) calls visit("datawriter_qos", resolved.datawriter_qos) for the six entities.
template <OneOf<ResolvedQos> Resolved, typename Visitor>
void each_entity(Resolved& resolved, Visitor&& visit) {
  visit("domainparticipant_qos", resolved.domainparticipant_qos);
  visit("topic_qos", resolved.topic_qos);
  visit("publisher_qos", resolved.publisher_qos);
  visit("subscriber_qos", resolved.subscriber_qos);
  visit("datawriter_qos", resolved.datawriter_qos);
  visit("datareader_qos", resolved.datareader_qos);
}

/// Lists the files of QosProvider::load_default(), as profile_files_of() reads it.
inline constexpr const char* profile_files_variable = "LLAMADA_QOS_PROFILES";

/// The paths of a list, in its order: with ':' or ';' between them, each with or without "file://" before it.
/// Empty entries are left out.
std::vector<std::filesystem::path> profile_files_of(std::string_view list);

/// Which QoS to look for.
struct QosQuery {
  /// "Library::Profile", or "Profile" where only one library has it. Without one, the only profile, or the
  /// one with is_default_qos="true". Of one entity's QoS also "Library::Profile::Name" and "Library::Name",
  /// an entity's element with that name.
  std::optional<std::string> profile = std::nullopt;
  /// The first element in a profile whose topic_filter fits is taken, else the one without a filter; without
  /// a topic only the latter.
  std::optional<std::string> topic = std::nullopt;
};

/// The QoS in files of DDS-XML (docs/qos.md), the QosProvider of the ISO C++ PSM.
///
/// Threads: one at a time; the parser's tree changes within when it is read.
///
/// Errors are one sentence "file:line: element/path: what is wrong": Errc::parse_error for the text,
/// Errc::not_found for a name, Errc::invalid_argument as check_consistent() says.
class QosProvider {
 public:
  /// Of files, whose libraries may refer to each other. If one has a base_name in a library that none of them
  /// has, the files *.xml in `directories` are looked at for it, too; those that cannot be read are passed
  /// over.
  static Result<QosProvider> load(std::span<const std::filesystem::path> files,
                                  std::span<const std::filesystem::path> directories = {});
  /// load() of the files that the environment variable LLAMADA_QOS_PROFILES lists (the default provider of
  /// the ISO C++ PSM). Reads the environment, so no thread may change it meanwhile. Also Errc::not_found if
  /// it lists none.
  static Result<QosProvider> load_default(std::span<const std::filesystem::path> directories = {});
  /// Of one text.
  static Result<QosProvider> parse(std::string_view text, std::string_view file_name_for_messages);

  QosProvider(QosProvider&&) noexcept;
  QosProvider& operator=(QosProvider&&) noexcept;
  ~QosProvider();

  /// "Library::Profile" of each profile in the files, in their order.
  std::vector<std::string> profiles() const;

  /// Everything that a profile says. `query.profile` names a profile.
  Result<ResolvedQos> resolve(const QosQuery& query = {}) const;

  /// The QoS of one entity. Only its own elements are looked at.
  Result<DomainParticipantQos> domainparticipant_qos(const QosQuery& query = {}) const;
  Result<PublisherQos> publisher_qos(const QosQuery& query = {}) const;
  Result<SubscriberQos> subscriber_qos(const QosQuery& query = {}) const;
  Result<TopicQos> topic_qos(const QosQuery& query = {}) const;
  Result<DataWriterQos> datawriter_qos(const QosQuery& query = {}) const;
  Result<DataReaderQos> datareader_qos(const QosQuery& query = {}) const;

 private:
  explicit QosProvider(std::unique_ptr<xml::Sources> sources);

  std::unique_ptr<xml::Sources> sources_;
};

}  // namespace llamada::qos
