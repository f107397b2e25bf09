#include "sources.hpp"

#include <algorithm>
#include <array>

#include "bases.hpp"
#include "builtin_profiles.hpp"
#include "llamada/qos/name_pattern.hpp"
#include "llamada/qos_xml/profile_file.hpp"
#include "names.hpp"
#include "vendors.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

constexpr std::array<std::string_view, 1> document_parts{"qos_library"};
constexpr std::array<std::string_view, 10> profile_parts{
    "rank_replacement", "datawriter_qos",        "datareader_qos",         "topic_qos",       "publisher_qos",
    "subscriber_qos",   "domainparticipant_qos", "domain_participant_qos", "participant_qos", "base_name"};

/// "domainparticipant_qos" for each of its spellings; empty for what is no entity's element.
std::string_view kind_of(std::string_view element) {
  if (element == "domain_participant_qos" || element == "participant_qos") return "domainparticipant_qos";
  const auto found = std::find(profile_parts.begin() + 1, profile_parts.end() - 1, element);
  return found == profile_parts.end() - 1 ? std::string_view() : *found;
}

Result<bool> read_is_default(const Element& element) {
  const char* attribute = element.attribute("is_default_qos");
  if (attribute == nullptr) return false;
  const std::string_view text = attribute;
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return element.fails(Errc::parse_error, "is_default_qos {} is not legal; legal: true, false, 1, 0",
                       quoted(text));
}

/// What DDS-XML's drafts have and what would change the meaning if it were passed over.
Status refuse_snippet(const Element& element) {
  if (element.name() != "qos_snippet" && element.name() != "qos_snippets") return {};
  return element.fails(Errc::unsupported,
                       "snippets are not built; write the policies where they are to stand");
}

/// Other vendors' files, and their parts of a file.
Status refuse_foreign(const Element& element) {
  const std::string_view reason = foreign_root(element.name());
  return reason.empty() ? Status() : element.fails(Errc::unsupported, "{}", reason);
}

Status refuse_foreign_children(const Element& root) {
  auto children = root.children();
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    if (auto status = refuse_foreign(child); !status) return status;
  }
  return {};
}

bool fits(const std::optional<std::string>& filter, const std::optional<std::string>& topic) {
  return filter && topic && fits_name_pattern(*filter, *topic);
}

std::string_view without_root_scope(std::string_view name) {
  if (name.starts_with("::")) name.remove_prefix(2);
  return name;
}

tl::unexpected<Error> no_builtin_profile(const Element& element, std::string_view name) {
  return element.fails(
      Errc::not_found,
      "base_name {} is a built-in profile of RTI Connext whose policies are not known here; write its "
      "policies out, or derive from Generic.StrictReliable, Generic.KeepLastReliable, "
      "Generic.BestEffort or Generic.Common",
      quoted(name));
}

/// Whether an element or one within it has a base_name in a library that `has` does not know.
template <typename HasLibrary>
bool names_foreign_library(const Element& element, const HasLibrary& has) {
  const auto names = base_names(element);
  const auto is_foreign = [&has](std::string_view base) {
    const std::string_view name = without_root_scope(base);
    const std::size_t scope = name.find("::");
    return scope != name.npos && !is_builtin_name(name) && !has(name.substr(0, scope));
  };
  if (names && std::any_of(names->begin(), names->end(), is_foreign)) return true;
  auto children = element.children();
  return children && std::any_of(children->begin(), children->end(),
                                 [&has](const Element& child) { return names_foreign_library(child, has); });
}

}  // namespace

/// A way from an element through its bases, each of which is entered and left.
struct Sources::Walk {
  std::string_view kind;
  const std::optional<std::string>& topic;
  std::vector<Element> path;    ///< Profiles and elements that were entered and not left.
  std::vector<Element> layers;  ///< The elements, last base first.
  std::size_t entered = 0;

  Status enter(const Element& element) {
    if (std::find(path.begin(), path.end(), element) != path.end()) {
      return element.fails(Errc::parse_error,
                           "a chain of base_name comes back to this {}: it closes a circle", element.name());
    }
    if (entered == 2 * base_name_chain_length_max) {
      return element.fails(Errc::out_of_resources, "a chain of base_name is longer than {} elements",
                           2 * base_name_chain_length_max);
    }
    ++entered;
    path.push_back(element);
    return {};
  }

  /// Ends what enter() began, with what came of it.
  Status leave(Status status) {
    path.pop_back();
    return status;
  }
};

Status Sources::add(std::unique_ptr<Document> document, bool is_auxiliary) {
  warnings_.insert(warnings_.end(), document->warnings().begin(), document->warnings().end());
  documents_.push_back(std::move(document));
  const Element root = documents_.back()->root();
  if (root.name() == "qos_library") return add_library(root, is_auxiliary);
  if (auto status = refuse_foreign(root); !status) return status;
  if (root.name() != "dds") return root.unknown(std::array<std::string_view, 2>{"dds", "qos_library"});
  // RTI Connext says with `version` which of its releases a file was written for, as others do by the schema.
  if (auto status = root.check_attributes({}, {"version"}); !status) return status;
  if (auto status = refuse_foreign_children(root); !status) return status;
  auto children = root.children_of(document_parts, &warnings_);
  if (!children) return propagate(children);
  std::set<std::string_view> seen;
  for (const Element& child : *children) {
    const char* name = child.attribute("name");
    if (name != nullptr && !seen.insert(name).second) {
      return child.fails(Errc::parse_error, "there is already a qos_library {} in this file", quoted(name));
    }
    if (auto status = add_library(child, is_auxiliary); !status) return status;
  }
  return {};
}

Status Sources::add_library(const Element& element, bool is_auxiliary) {
  if (auto status = element.check_attributes({"name"}); !status) return status;
  auto name = read_name(element);
  if (!name) return propagate(name);
  libraries_.insert(*name);
  auto children = element.children();
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    Status status;
    if (child.name() == "qos_profile") {
      status = add_profile(child, *name, is_auxiliary);
    } else if (status = refuse_snippet(child); !status) {
      return status;
    } else if (kind_of(child.name()).empty()) {
      return child.unknown(std::array<std::string_view, 1>{"qos_profile"});
    } else {
      status = add_entity(child, *name);
    }
    if (!status) return status;
  }
  return {};
}

Status Sources::add_profile(const Element& element, const std::string& library, bool is_auxiliary) {
  if (element.attribute("is_default_participant_factory_profile") != nullptr) {
    warnings_.push_back(element.where() +
                        "attribute 'is_default_participant_factory_profile' is another vendor's; it has no "
                        "effect here");
  }
  if (auto status = element.check_attributes({"name", "base_name", "is_default_qos"},
                                             {"is_default_participant_factory_profile"});
      !status) {
    return status;
  }
  auto name = read_name(element);
  if (!name) return propagate(name);
  auto is_default = read_is_default(element);
  if (!is_default) return propagate(is_default);
  auto profile =
      std::make_unique<Profile>(Profile{element, library, std::move(*name), *is_default, is_auxiliary});
  if (!by_full_name_.emplace(profile->full_name(), profile.get()).second) {
    if (is_auxiliary) return {};
    return element.fails(Errc::parse_error, "there is already a qos_profile '{}' in this library",
                         profile->name);
  }
  profiles_.push_back(std::move(profile));
  return {};
}

Status Sources::add_entity(const Element& element, const std::string& library) {
  if (auto status = element.check_attributes({"name", "base_name"}); !status) return status;
  auto name = read_name(element);
  if (!name) return propagate(name);
  library_entities_.push_back(
      {element, kind_of(element.name()), library, nullptr, std::move(*name), std::nullopt});
  return {};
}

bool Sources::lacks_libraries() const {
  auto has = [this](std::string_view library) { return libraries_.contains(library); };
  return std::any_of(documents_.begin(), documents_.end(),
                     [&has](const auto& document) { return names_foreign_library(document->root(), has); });
}

std::vector<std::string_view> Sources::full_names(bool with_auxiliary) const {
  std::vector<std::string_view> names;
  for (const auto& [name, profile] : by_full_name_) {
    const bool is_builtin = profile->element.file() == builtin_profiles_file;
    if (!is_builtin && (with_auxiliary || !profile->is_auxiliary)) names.push_back(name);
  }
  return names;
}

std::string Sources::file() const {
  std::string names;
  for (const auto& document : documents_) {
    if (document->file() == builtin_profiles_file) continue;
    const bool is_auxiliary = std::none_of(profiles_.begin(), profiles_.end(), [&](const auto& profile) {
      return !profile->is_auxiliary && profile->element.file() == document->file();
    });
    if (!is_auxiliary || names.empty()) names += (names.empty() ? "" : ", ") + document->file();
  }
  return names;
}

Result<const Sources::Profile*> Sources::choose(const std::optional<std::string>& asked) const {
  if (!asked) return choose_default();
  const std::string_view name = without_root_scope(*asked);
  if (const auto found = by_full_name_.find(name); found != by_full_name_.end()) return found->second;
  const Profile* only = nullptr;
  for (const auto& profile : profiles_) {
    if (profile->name != name || profile->is_auxiliary) continue;
    if (only != nullptr) {
      return failure(Errc::not_found, "{}: more than one library has a profile {}; name one: {}, {}", file(),
                     quoted(name), only->full_name(), profile->full_name());
    }
    only = profile.get();
  }
  if (only != nullptr) return only;
  const auto names = full_names(false);
  if (names.empty()) return failure(Errc::not_found, "{}: there is no qos_profile in this file", file());
  std::vector<std::string_view> near = names;
  for (const auto& profile : profiles_) {
    if (!profile->is_auxiliary) near.push_back(profile->name);
  }
  return failure(Errc::not_found, "{}: there is no profile {}; there are: {}{}", file(), quoted(name),
                 listed(names), suggestion(name, near));
}

Result<const Sources::Profile*> Sources::choose_default() const {
  std::vector<const Profile*> own;
  for (const auto& profile : profiles_) {
    if (!profile->is_auxiliary) own.push_back(profile.get());
  }
  if (own.empty()) return failure(Errc::not_found, "{}: there is no qos_profile in this file", file());
  if (own.size() == 1) return own.front();
  const Profile* chosen = nullptr;
  for (const Profile* profile : own) {
    if (!profile->is_default) continue;
    if (chosen != nullptr) {
      return profile->element.fails(Errc::parse_error,
                                    "is_default_qos is true here and for '{}'; only one may have it",
                                    chosen->full_name());
    }
    chosen = profile;
  }
  if (chosen != nullptr) return chosen;
  return failure(Errc::not_found,
                 "{}: there are {} profiles and none has is_default_qos=\"true\"; name one as {}:PROFILE: {}",
                 file(), own.size(), file(), listed(full_names(false)));
}

const Sources::Profile* Sources::find_profile(std::string_view name, const std::string& library) const {
  name = without_root_scope(name);
  auto found = by_full_name_.find(name);
  if (const BuiltinProfile* builtin = find_builtin_profile(name);
      builtin != nullptr && found == by_full_name_.end())
    found = by_full_name_.find(builtin->profile);
  if (found == by_full_name_.end()) found = by_full_name_.find(library + "::" + std::string(name));
  return found == by_full_name_.end() ? nullptr : found->second;
}

Result<std::vector<Sources::Base>> Sources::bases_of(const Profile& profile) const {
  auto names = base_names(profile.element);
  if (!names) return propagate(names);
  std::vector<Base> bases;
  for (std::string& name : *names) {
    const Profile* found = find_profile(name, profile.library);
    if (found == nullptr) return no_base(profile, name);
    bases.push_back({std::move(name), found});
  }
  return bases;
}

tl::unexpected<Error> Sources::no_base(const Profile& profile, std::string_view name) const {
  if (is_builtin_name(name)) return no_builtin_profile(profile.element, name);
  // A name without a library means this library, so those are what a slip of the pen is compared with.
  std::vector<std::string_view> names = full_names(true);
  for (const auto& other : profiles_) {
    if (other->library == profile.library && other.get() != &profile) names.push_back(other->name);
  }
  return profile.element.fails(Errc::not_found, "base_name {} names no profile in this file; there are: {}{}",
                               quoted(name), listed(full_names(true)),
                               suggestion(without_root_scope(name), names));
}

Result<std::vector<const Sources::Profile*>> Sources::chain_of(const Profile& profile) const {
  std::vector<const Profile*> path;
  std::vector<const Profile*> chain;
  if (auto status = extend_chain(profile, path, chain); !status) return propagate(status);
  return chain;
}

Status Sources::extend_chain(const Profile& profile, std::vector<const Profile*>& path,
                             std::vector<const Profile*>& chain) const {
  if (chain.size() == base_name_chain_length_max) {
    return path.back()->element.fails(Errc::out_of_resources,
                                      "a chain of base_name is longer than {} profiles",
                                      base_name_chain_length_max);
  }
  chain.push_back(&profile);
  path.push_back(&profile);
  auto bases = bases_of(profile);
  if (!bases) return propagate(bases);
  for (auto base = bases->rbegin(); base != bases->rend(); ++base) {
    if (std::find(path.begin(), path.end(), base->profile) != path.end()) {
      return profile.element.fails(Errc::parse_error,
                                   "base_name {} closes a circle: it is itself derived from '{}'",
                                   xml::quoted(base->name), profile.full_name());
    }
    if (auto status = extend_chain(*base->profile, path, chain); !status) return status;
  }
  path.pop_back();
  return {};
}

Result<Sources::Parts> Sources::parts_of(const Profile& profile, Warnings* warnings) const {
  auto children = profile.element.children();
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    if (auto status = refuse_snippet(child); !status) return propagate(status);
  }
  Warnings ignored;
  children = profile.element.children_of(profile_parts, warnings != nullptr ? warnings : &ignored);
  if (!children) return propagate(children);
  Parts parts;
  std::set<std::string_view> plain;
  for (const Element& child : *children) {
    const std::string_view kind = kind_of(child.name());
    if (!kind.empty()) {
      if (auto status = child.check_attributes({"name", "base_name", "topic_filter"}); !status)
        return propagate(status);
      Entity entity{child, kind, profile.library, &profile, {}, std::nullopt};
      if (child.attribute("name") != nullptr) {
        auto name = read_name(child);
        if (!name) return propagate(name);
        entity.name = std::move(*name);
      }
      if (const char* filter = child.attribute("topic_filter")) entity.topic_filter = collapsed(filter);
      parts.entities.push_back(std::move(entity));
    }
    const bool is_plain =
        kind.empty() || (child.attribute("name") == nullptr && child.attribute("topic_filter") == nullptr);
    if (is_plain && !plain.insert(kind.empty() ? child.name() : kind).second) {
      return child.fails(Errc::parse_error, "the element stands here for the second time; it may stand once");
    }
    if (child.name() == "rank_replacement") parts.rank_replacement = child;
  }
  return parts;
}

Result<std::optional<Element>> Sources::rank_replacement_of(const Profile& profile) const {
  auto parts = parts_of(profile, nullptr);
  if (!parts) return propagate(parts);
  return parts->rank_replacement;
}

Status Sources::walk_profile(const Profile& profile, Walk& walk) const {
  if (auto status = walk.enter(profile.element); !status) return status;
  auto parts = parts_of(profile, nullptr);
  if (!parts) return propagate(parts);
  const Entity* chosen = nullptr;
  for (const Entity& entity : parts->entities) {
    if (entity.kind != walk.kind) continue;
    if (fits(entity.topic_filter, walk.topic)) {
      chosen = &entity;
      break;
    }
    if (!entity.topic_filter && chosen == nullptr) chosen = &entity;
  }
  return walk.leave(chosen != nullptr ? walk_entity(*chosen, walk) : walk_bases(profile, walk));
}

Status Sources::walk_bases(const Profile& profile, Walk& walk) const {
  auto bases = bases_of(profile);
  if (!bases) return propagate(bases);
  for (auto base = bases->rbegin(); base != bases->rend(); ++base) {
    if (auto status = walk_profile(*base->profile, walk); !status) return status;
  }
  return {};
}

Status Sources::walk_entity(const Entity& entity, Walk& walk) const {
  if (auto status = walk.enter(entity.element); !status) return status;
  walk.layers.push_back(entity.element);
  auto names = base_names(entity.element);
  if (!names) return propagate(names);
  if (names->empty())
    return walk.leave(entity.profile == nullptr ? Status() : walk_bases(*entity.profile, walk));
  for (auto name = names->rbegin(); name != names->rend(); ++name) {
    if (auto status = walk_entity_base(entity, *name, walk); !status) return status;
  }
  return walk.leave({});
}

Status Sources::walk_entity_base(const Entity& entity, const std::string& name, Walk& walk) const {
  auto named = find_named(name, walk.kind, &entity);
  if (!named) return propagate(named);
  if (*named) return walk_entity(**named, walk);
  if (const Profile* profile = find_profile(name, entity.library)) return walk_profile(*profile, walk);
  if (is_builtin_name(name)) return no_builtin_profile(entity.element, name);
  return entity.element.fails(
      Errc::not_found, "base_name {} names no profile and no {} here; there are: {}{}", xml::quoted(name),
      walk.kind, listed(full_names(true)), suggestion(without_root_scope(name), full_names(true)));
}

/// Within the profile and the library of `from` also by its short name.
Result<std::optional<Sources::Entity>> Sources::find_named(std::string_view name, std::string_view kind,
                                                           const Entity* from) const {
  name = without_root_scope(name);
  for (const Entity& entity : library_entities_) {
    if (entity.kind != kind) continue;
    const bool is_near = from != nullptr && from->library == entity.library && entity.name == name;
    if (is_near || entity.library + "::" + entity.name == name) return entity;
  }
  for (const auto& profile : profiles_) {
    const bool is_near = from != nullptr && from->profile == profile.get();
    if (!is_near && !name.starts_with(profile->full_name() + "::") &&
        !(from != nullptr && from->library == profile->library && name.starts_with(profile->name + "::"))) {
      continue;
    }
    auto parts = parts_of(*profile, nullptr);
    if (!parts) return propagate(parts);
    for (const Entity& entity : parts->entities) {
      if (entity.kind != kind || entity.name.empty()) continue;
      const std::string in_library = profile->name + "::" + entity.name;
      if ((is_near && entity.name == name) ||
          (from != nullptr && from->library == profile->library && in_library == name) ||
          profile->library + "::" + in_library == name) {
        return entity;
      }
    }
  }
  return std::nullopt;
}

Result<std::vector<Element>> Sources::layers_of(const Profile& profile, std::string_view kind,
                                                const std::optional<std::string>& topic) const {
  Walk walk{kind, topic, {}, {}};
  if (auto status = walk_profile(profile, walk); !status) return propagate(status);
  std::reverse(walk.layers.begin(), walk.layers.end());
  return std::move(walk.layers);
}

Result<std::optional<std::vector<Element>>> Sources::layers_of_named(
    std::string_view name, std::string_view kind, const std::optional<std::string>& topic) const {
  auto named = find_named(name, kind, nullptr);
  if (!named) return propagate(named);
  if (!*named) return std::nullopt;
  Walk walk{kind, topic, {}, {}};
  if (auto status = walk_entity(**named, walk); !status) return propagate(status);
  std::reverse(walk.layers.begin(), walk.layers.end());
  return std::move(walk.layers);
}

}  // namespace llamada::qos::xml
