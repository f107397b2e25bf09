#include "llamada/qos_xml/qos_provider.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "bases.hpp"
#include "builtin_profiles.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "llamada/qos_xml/profile_file.hpp"
#include "policy_reader.hpp"
#include "sources.hpp"
#include "words.hpp"

namespace llamada::qos {
namespace {

namespace fs = std::filesystem;
using xml::Element;
using xml::PolicyReader;
using xml::Sources;

/// The files *.xml of the directories, in the order of their names.
std::vector<fs::path> xml_files(std::span<const fs::path> directories) {
  std::vector<fs::path> paths;
  for (const fs::path& directory : directories) {
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".xml") paths.push_back(entry->path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Sources that already know RTI Connext's built-in profiles.
Result<std::unique_ptr<Sources>> make_sources() {
  auto sources = std::make_unique<Sources>();
  auto document = xml::Document::parse(xml::builtin_profiles_text(), xml::builtin_profiles_file);
  if (!document) return propagate(document);
  if (auto status = sources->add(std::move(*document), true); !status) return propagate(status);
  return sources;
}

/// Applies the layers of one entity and judges what came of them, at the last.
template <typename Qos>
Status read_layers(std::span<const Element> layers, PolicyReader& reader, Qos& qos, std::string_view place) {
  for (const Element& layer : layers) {
    if (auto status = reader.read(layer, qos); !status) return status;
  }
  auto status = check_consistent(qos);
  if (status) return {};
  return failure(status.error().code(), "{}{}: {}", place, reader.entity, status.error().text());
}

struct Chosen {
  std::vector<Element> layers;
  std::string place;
};

/// Of the profile that is meant, else of the element with that name.
Result<Chosen> layers_for(const Sources& sources, std::string_view kind, const QosQuery& query) {
  auto profile = sources.choose(query.profile);
  if (profile) {
    if (auto chain = sources.chain_of(**profile); !chain) return propagate(chain);
    auto layers = sources.layers_of(**profile, kind, query.topic);
    if (!layers) return propagate(layers);
    return Chosen{std::move(*layers), (*profile)->element.where()};
  }
  if (!query.profile) return propagate(profile);
  auto named = sources.layers_of_named(*query.profile, kind, query.topic);
  if (!named) return propagate(named);
  if (!*named) return propagate(profile);
  std::string place = (*named)->back().where();
  return Chosen{std::move(**named), std::move(place)};
}

template <typename Qos>
Result<Qos> read_one(const Sources& sources, std::string_view kind, const QosQuery& query) {
  auto chosen = layers_for(sources, kind, query);
  if (!chosen) return propagate(chosen);
  Qos qos;
  Origins origins;
  xml::Warnings warnings;
  PolicyReader reader{kind, origins, warnings};
  if (auto status = read_layers(chosen->layers, reader, qos, chosen->place); !status)
    return propagate(status);
  return qos;
}

Status read_rank_replacement(const Sources& sources, std::span<const Sources::Profile* const> chain,
                             ResolvedQos& resolved) {
  PolicyReader reader{{}, resolved.origins, resolved.warnings};
  for (auto profile = chain.rbegin(); profile != chain.rend(); ++profile) {
    auto parts = sources.parts_of(**profile, &resolved.warnings);
    if (!parts) return propagate(parts);
    if (!parts->rank_replacement) continue;
    if (auto status = reader.read(*parts->rank_replacement, resolved.rank_replacement); !status)
      return status;
  }
  return {};
}

/// One entity's settings are the whole profile's, so two entities must not give different ones.
Status add_tuning(const Tuning& tuning, ResolvedQos& resolved) {
  for (const TuningVariable& variable : tuning_variables()) {
    const auto value = tuning.given(variable.id);
    const auto before = resolved.tuning.given(variable.id);
    if (!value || !before || *value == *before) continue;
    return failure(Errc::invalid_argument, "{}{} is {} here and {} in another entity; give it one value",
                   resolved.origins[fmt::format("tuning.{}", variable.name)].place, variable.name,
                   tuning_value_to_string(variable, *value), tuning_value_to_string(variable, *before));
  }
  resolved.tuning.put_over(tuning);
  return {};
}

/// Left out, the kind follows from the policies, and stands where DURABILITY does.
void imply_rank_replacement(ResolvedQos& resolved) {
  if (resolved.origins.contains("rank_replacement.kind")) return;
  resolved.rank_replacement.kind =
      implied_rank_replacement(resolved.datawriter_qos, reader_qos_for_ranks(resolved));
  const auto durability = resolved.origins.find("datawriter_qos.durability.kind");
  if (durability != resolved.origins.end()) resolved.origins["rank_replacement.kind"] = durability->second;
}

/// Built-in profiles of RTI Connext count only as far as they set policies.
Status note_builtin_bases(const Element& derived, xml::Warnings& warnings) {
  auto names = xml::base_names(derived);
  if (!names) return propagate(names);
  for (const std::string& name : *names) {
    const xml::BuiltinProfile* builtin = xml::find_builtin_profile(name);
    if (builtin == nullptr) continue;
    warnings.push_back(fmt::format("{}base_name {} is a built-in profile of RTI Connext; here it sets {}",
                                   derived.where(), xml::quoted(name), builtin->sets));
  }
  return {};
}

void drop_repeated(std::vector<std::string>& sentences) {
  std::vector<std::string> kept;
  for (std::string& each : sentences) {
    if (std::find(kept.begin(), kept.end(), each) == kept.end()) kept.push_back(std::move(each));
  }
  sentences = std::move(kept);
}

}  // namespace

QosProvider::QosProvider(std::unique_ptr<xml::Sources> sources) : sources_(std::move(sources)) {}
QosProvider::QosProvider(QosProvider&&) noexcept = default;
QosProvider& QosProvider::operator=(QosProvider&&) noexcept = default;
QosProvider::~QosProvider() = default;

Result<QosProvider> QosProvider::load(std::span<const fs::path> files,
                                      std::span<const fs::path> directories) {
  auto made = make_sources();
  if (!made) return propagate(made);
  std::unique_ptr<Sources> sources = std::move(*made);
  for (const fs::path& file : files) {
    auto document = xml::Document::load(file);
    if (!document) return propagate(document);
    if (auto status = sources->add(std::move(*document), false); !status) return propagate(status);
  }
  if (!sources->lacks_libraries()) return QosProvider(std::move(sources));
  for (const fs::path& file : xml_files(directories)) {
    std::error_code error;
    const bool is_own = std::any_of(files.begin(), files.end(),
                                    [&](const fs::path& each) { return fs::equivalent(each, file, error); });
    if (is_own) continue;
    // Somebody else's file: what is wrong with it matters only if something of it is needed.
    auto document = xml::Document::load(file);
    if (document) (void)sources->add(std::move(*document), true);
  }
  return QosProvider(std::move(sources));
}

std::vector<fs::path> profile_files_of(std::string_view list) {
  constexpr std::string_view scheme = "file://";
  std::vector<fs::path> files;
  while (!list.empty()) {
    if (list.starts_with(scheme)) list.remove_prefix(scheme.size());
    const std::string_view file = list.substr(0, list.find_first_of(":;"));
    if (!file.empty()) files.emplace_back(file);
    list.remove_prefix(std::min(file.size() + 1, list.size()));
  }
  return files;
}

Result<QosProvider> QosProvider::load_default(std::span<const fs::path> directories) {
  const char* list = std::getenv(profile_files_variable);
  const auto files = profile_files_of(list == nullptr ? std::string_view() : list);
  if (files.empty()) {
    return failure(Errc::not_found, "{} lists no file; set it to the profile files, with ':' between them",
                   profile_files_variable);
  }
  return load(files, directories);
}

Result<QosProvider> QosProvider::parse(std::string_view text, std::string_view file_name_for_messages) {
  auto document = xml::Document::parse(text, file_name_for_messages);
  if (!document) return propagate(document);
  auto sources = make_sources();
  if (!sources) return propagate(sources);
  if (auto status = (*sources)->add(std::move(*document), false); !status) return propagate(status);
  return QosProvider(std::move(*sources));
}

std::vector<std::string> QosProvider::profiles() const {
  std::vector<std::string> names;
  for (const auto& profile : sources_->profiles()) {
    if (!profile->is_auxiliary) names.push_back(profile->full_name());
  }
  return names;
}

Result<ResolvedQos> QosProvider::resolve(const QosQuery& query) const {
  auto profile = sources_->choose(query.profile);
  if (!profile) return propagate(profile);
  auto chain = sources_->chain_of(**profile);
  if (!chain) return propagate(chain);
  ResolvedQos resolved;
  resolved.name = (*profile)->full_name();
  resolved.place = (*profile)->element.where();
  resolved.warnings = sources_->warnings();
  for (const Sources::Profile* each : *chain) {
    if (auto status = note_builtin_bases(each->element, resolved.warnings); !status) return propagate(status);
  }
  if (auto status = read_rank_replacement(*sources_, *chain, resolved); !status) return propagate(status);
  Status status;
  each_entity(resolved, [&](std::string_view kind, auto& qos) {
    if (!status) return;
    auto layers = sources_->layers_of(**profile, kind, query.topic);
    if (!layers) {
      status = propagate(layers);
      return;
    }
    for (const Element& layer : *layers) {
      if (status) status = note_builtin_bases(layer, resolved.warnings);
    }
    Tuning tuning;
    std::string name;
    PolicyReader reader{kind, resolved.origins, resolved.warnings, &tuning, &name};
    if (status) status = read_layers(*layers, reader, qos, resolved.place);
    if (status) status = add_tuning(tuning, resolved);
    if (!name.empty()) resolved.entity_names.emplace(kind, std::move(name));
  });
  if (!status) return propagate(status);
  if (status = check_consistent(resolved.tuning); !status)
    return failure(status.error().code(), "{}{}", resolved.place, status.error().text());
  imply_rank_replacement(resolved);
  drop_repeated(resolved.warnings);
  return resolved;
}

Result<DomainParticipantQos> QosProvider::domainparticipant_qos(const QosQuery& query) const {
  return read_one<DomainParticipantQos>(*sources_, "domainparticipant_qos", query);
}
Result<PublisherQos> QosProvider::publisher_qos(const QosQuery& query) const {
  return read_one<PublisherQos>(*sources_, "publisher_qos", query);
}
Result<SubscriberQos> QosProvider::subscriber_qos(const QosQuery& query) const {
  return read_one<SubscriberQos>(*sources_, "subscriber_qos", query);
}
Result<TopicQos> QosProvider::topic_qos(const QosQuery& query) const {
  return read_one<TopicQos>(*sources_, "topic_qos", query);
}
Result<DataWriterQos> QosProvider::datawriter_qos(const QosQuery& query) const {
  return read_one<DataWriterQos>(*sources_, "datawriter_qos", query);
}
Result<DataReaderQos> QosProvider::datareader_qos(const QosQuery& query) const {
  return read_one<DataReaderQos>(*sources_, "datareader_qos", query);
}

}  // namespace llamada::qos
