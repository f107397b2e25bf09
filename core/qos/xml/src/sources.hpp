#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document.hpp"
#include "element.hpp"
#include "llamada/qos_xml/qos_provider.hpp"

namespace llamada::qos::xml {

/// The libraries of some files, by name. Looks at libraries and at the attributes of profiles when they are
/// added, into a profile only when something of it is asked for.
class Sources {
 public:
  struct Profile {
    Element element;
    std::string library;
    std::string name;
    bool is_default;
    bool is_auxiliary;  ///< From a file that is only there for base_name.

    std::string full_name() const { return library + "::" + name; }
  };

  /// An element <datawriter_qos> or its kin, in a profile or in a library.
  struct Entity {
    Element element;
    std::string_view
        kind;  ///< "datawriter_qos"; of a participant "domainparticipant_qos" however it is spelt.
    std::string library;
    const Profile* profile;  ///< Null in a library.
    std::string name;        ///< May be empty in a profile.
    std::optional<std::string> topic_filter;
  };

  /// Of <dds> or a bare <qos_library>.
  Status add(std::unique_ptr<Document> document, bool is_auxiliary);

  /// Whether a base_name names a library that is not there; RTI Connext's are always there.
  bool lacks_libraries() const;

  const std::vector<std::unique_ptr<Profile>>& profiles() const { return profiles_; }

  /// The profile that a QosQuery means.
  Result<const Profile*> choose(const std::optional<std::string>& name) const;

  /// The profile and those that it is derived from: itself first, each before its bases, and a base that goes
  /// before another before that one.
  Result<std::vector<const Profile*>> chain_of(const Profile& profile) const;

  /// <rank_replacement> in a profile.
  Result<std::optional<Element>> rank_replacement_of(const Profile& profile) const;

  /// The elements of that kind that make up a profile's QoS for a topic, in the order in which they are
  /// applied.
  Result<std::vector<Element>> layers_of(const Profile& profile, std::string_view kind,
                                         const std::optional<std::string>& topic) const;

  /// The same of an element with a name, if there is one: "Library::Profile::Name" or "Library::Name".
  Result<std::optional<std::vector<Element>>> layers_of_named(std::string_view name, std::string_view kind,
                                                              const std::optional<std::string>& topic) const;

  /// What was met and has no effect.
  const Warnings& warnings() const { return warnings_; }

  /// What stands in a profile, in its order.
  struct Parts {
    std::vector<Entity> entities;
    std::optional<Element> rank_replacement;
  };
  Result<Parts> parts_of(const Profile& profile, Warnings* warnings) const;

 private:
  struct Walk;

  Status add_library(const Element& element, bool is_auxiliary);
  Status add_profile(const Element& element, const std::string& library, bool is_auxiliary);
  Status add_entity(const Element& element, const std::string& library);

  Result<const Profile*> choose_default() const;
  /// A name that stands as a base of a profile, and the profile that it means.
  struct Base {
    std::string name;
    const Profile* profile;
  };
  Result<std::vector<Base>> bases_of(const Profile& profile) const;
  tl::unexpected<Error> no_base(const Profile& profile, std::string_view name) const;
  Status extend_chain(const Profile& profile, std::vector<const Profile*>& path,
                      std::vector<const Profile*>& chain) const;
  const Profile* find_profile(std::string_view name, const std::string& library) const;
  Result<std::optional<Entity>> find_named(std::string_view name, std::string_view kind,
                                           const Entity* from) const;
  Status walk_profile(const Profile& profile, Walk& walk) const;
  Status walk_bases(const Profile& profile, Walk& walk) const;
  Status walk_entity(const Entity& entity, Walk& walk) const;
  Status walk_entity_base(const Entity& entity, const std::string& name, Walk& walk) const;
  std::vector<std::string_view> full_names(bool with_auxiliary) const;
  std::string file() const;

  std::vector<std::unique_ptr<Document>> documents_;
  std::vector<std::unique_ptr<Profile>> profiles_;
  std::vector<Entity> library_entities_;
  std::map<std::string, const Profile*, std::less<>> by_full_name_;
  std::set<std::string, std::less<>> libraries_;
  Warnings warnings_;
};

}  // namespace llamada::qos::xml
