#include "fast_dds.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "words.hpp"

namespace llamada::qos::xml {
namespace {

using tinyxml2::XMLElement;

/// Names are literals: elements refer to them for messages.
struct Renamed {
  const char* from;
  const char* to;
};

constexpr Renamed entities[] = {{"data_writer", "datawriter_qos"},        {"publisher", "datawriter_qos"},
                                {"data_reader", "datareader_qos"},        {"subscriber", "datareader_qos"},
                                {"participant", "domainparticipant_qos"}, {"topic", "topic_qos"}};

constexpr Renamed policies[] = {{"historyQos", "history"},
                                {"resourceLimitsQos", "resource_limits"},
                                {"latencyBudget", "latency_budget"},
                                {"ownershipStrength", "ownership_strength"},
                                {"durabilityService", "durability_service"},
                                {"destinationOrder", "destination_order"},
                                {"timeBasedFilter", "time_based_filter"},
                                {"userData", "user_data"},
                                {"topicData", "topic_data"},
                                {"groupData", "group_data"}};

/// Policies of a publisher or subscriber, which Fast DDS has among those of its writers and readers.
constexpr std::array<std::string_view, 3> group_policies{"partition", "presentation", "group_data"};

struct IgnoredOfFastDds {
  std::string_view parent;
  std::string_view element;
};

// "end" is a writer or reader, "qos" what is in its <qos>.
constexpr IgnoredOfFastDds all_ignored_of_fast_dds[] = {
    {"dds", "log"},
    {"dds", "library_settings"},
    {"profiles", "transport_descriptors"},
    {"profiles", "library_settings"},
    {"profiles", "domainparticipant_factory"},
    {"profiles", "requester"},
    {"profiles", "replier"},
    {"profiles", "log"},
    {"profiles", "types"},
    {"end", "times"},
    {"end", "unicastLocatorList"},
    {"end", "multicastLocatorList"},
    {"end", "remoteLocatorList"},
    {"end", "external_unicast_locators"},
    {"end", "ignore_non_matching_locators"},
    {"end", "throughputController"},
    {"end", "historyMemoryPolicy"},
    {"end", "propertiesPolicy"},
    {"end", "userDefinedID"},
    {"end", "entityID"},
    {"end", "expectsInlineQos"},
    {"end", "matchedSubscribersAllocation"},
    {"end", "matchedPublishersAllocation"},
    {"topic", "name"},
    {"topic", "dataType"},
    {"topic", "kind"},
    {"participant", "domainId"},
    {"qos", "publishMode"},
    {"qos", "data_sharing"},
    {"qos", "disablePositiveAcks"},
    {"qos", "disable_positive_acks"},
    {"qos", "disable_heartbeat_piggyback"},
    {"liveliness", "announcement_period"},
    {"resourceLimitsQos", "allocated_samples"},
    {"resourceLimitsQos", "extra_samples"},
};

std::string_view name_of(const XMLElement& element) {
  const std::string_view name = element.Name();
  return name.substr(name.find(':') + 1);
}

const Renamed* find(std::span<const Renamed> table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [name](const Renamed& each) { return name == each.from; });
  return found == table.end() ? nullptr : &*found;
}

void rename(XMLElement& element, const Renamed& names) {
  element.SetUserData(const_cast<char*>(names.from));
  element.SetName(names.to);
}

std::vector<XMLElement*> children_of(XMLElement& element) {
  std::vector<XMLElement*> found;
  for (auto* child = element.FirstChildElement(); child != nullptr; child = child->NextSiblingElement())
    found.push_back(child);
  return found;
}

XMLElement& add_child(XMLElement& parent, const char* name) {
  XMLElement* made = parent.GetDocument()->NewElement(name);
  parent.InsertEndChild(made);
  return *made;
}

/// Fast DDS writes bytes as "1.a.ff".
std::string without_dots(std::string_view text) {
  std::string pairs;
  while (true) {
    const std::size_t dot = text.find('.');
    pairs += (dot == 1 || text.size() == 1 ? "0" : "") + std::string(text.substr(0, dot));
    if (dot == text.npos) return pairs;
    pairs += ' ';
    text.remove_prefix(dot + 1);
  }
}

class Translator {
 public:
  Translator(std::string_view file, Warnings& warnings) : file_(file), warnings_(warnings) {}

  Status profiles(XMLElement& element) {
    const Element profiles = at(element);
    if (auto status = profiles.check_attributes({}); !status) return status;
    // Text between the elements is refused here, before any of them moves.
    if (auto children = profiles.children(); !children) return propagate(children);
    for (XMLElement* child : children_of(element)) {
      if (ignore(*child, "profiles")) continue;
      const Renamed* kind = find(entities, name_of(*child));
      if (kind == nullptr) return at(*child).unknown(names_in(entities));
      if (auto status = entity(*child, *kind); !status) return status;
    }
    static constexpr Renamed library{"profiles", "qos_library"};
    rename(element, library);
    element.SetAttribute("name", "profiles");
    mark_default(element);
    return {};
  }

  /// Takes the element out, with a warning, if it has no effect in this parent.
  bool ignore(XMLElement& element, std::string_view parent) {
    const bool is_ignored = std::any_of(std::begin(all_ignored_of_fast_dds),
                                        std::end(all_ignored_of_fast_dds), [&](const IgnoredOfFastDds& each) {
                                          return each.parent == parent && each.element == name_of(element);
                                        });
    if (is_ignored) take_out(element);
    return is_ignored;
  }

 private:
  /// A profile that is the default of its kind.
  struct Default {
    std::string kind;
    XMLElement* profile;
  };

  Element at(const XMLElement& element) const { return {element, file_}; }

  static std::vector<std::string_view> names_in(std::span<const Renamed> table) {
    std::vector<std::string_view> names;
    names.reserve(table.size());
    for (const Renamed& each : table) names.emplace_back(each.from);
    return names;
  }

  void take_out(XMLElement& element) {
    warnings_.push_back(at(element).where() + "the element is another vendor's; it has no effect here");
    element.GetDocument()->DeleteNode(&element);
  }

  Status entity(XMLElement& element, const Renamed& kind) {
    if (auto status = at(element).check_attributes({"profile_name", "is_default_profile"}); !status)
      return status;
    const char* name = element.Attribute("profile_name");
    if (name == nullptr) return at(element).fails(Errc::parse_error, "attribute 'profile_name' is missing");
    const char* attribute = element.Attribute("is_default_profile");
    const std::string_view is_default = attribute == nullptr ? "false" : attribute;
    if (is_default != "true" && is_default != "1" && is_default != "false" && is_default != "0")
      return at(element).fails(Errc::parse_error,
                               "is_default_profile {} is not legal; legal: true, false, 1, 0",
                               quoted(is_default));
    if (auto children = at(element).children(); !children) return propagate(children);
    const bool make_default = is_default == "true" || is_default == "1";
    element.SetAttribute("name", name);
    element.DeleteAttribute("profile_name");
    element.DeleteAttribute("is_default_profile");
    rename(element, {kind.from, "qos_profile"});
    auto status = body_of(element, kind);
    if (!status) return status;
    if (make_default) status = add_defaults(element, kind);
    merge(element);
    return status;
  }

  Status body_of(XMLElement& element, const Renamed& kind) {
    const std::string_view entity = kind.to;
    if (entity == "topic_qos") {
      XMLElement& body = add_child(element, kind.to);
      return topic(element, body);
    }
    if (entity == "domainparticipant_qos") return participant(element);
    return end(element, kind);
  }

  /// A writer or reader: what is in <qos> and <topic>.
  Status end(XMLElement& profile, const Renamed& kind) {
    XMLElement* qos = nullptr;
    XMLElement* topic_of_end = nullptr;
    for (XMLElement* child : children_of(profile)) {
      if (ignore(*child, "end")) continue;
      if (name_of(*child) != "qos" && name_of(*child) != "topic")
        return at(*child).unknown(std::array<std::string_view, 2>{"topic", "qos"});
      if (auto status = at(*child).check_attributes({}); !status) return status;
      XMLElement*& place = name_of(*child) == "qos" ? qos : topic_of_end;
      if (place != nullptr)
        return at(*child).fails(Errc::parse_error,
                                "the element stands here for the second time; it may stand once");
      place = child;
    }
    if (qos == nullptr) qos = &add_child(profile, kind.to);
    static constexpr const char* written = "qos";
    rename(*qos, {written, kind.to});
    if (topic_of_end != nullptr) {
      if (auto status = topic(*topic_of_end, *qos); !status) return status;
      profile.DeleteChild(topic_of_end);
    }
    return policies_of(*qos, profile);
  }

  /// Moves the policies of a <topic> into an entity.
  Status topic(XMLElement& element, XMLElement& entity) {
    if (auto children = at(element).children(); !children) return propagate(children);
    for (XMLElement* child : children_of(element)) {
      if (child == &entity || ignore(*child, "topic")) continue;
      if (name_of(*child) != "historyQos" && name_of(*child) != "resourceLimitsQos")
        return at(*child).unknown(std::array<std::string_view, 2>{"historyQos", "resourceLimitsQos"});
      entity.InsertEndChild(child);
      if (&element == entity.Parent()) policy(*child);
    }
    return {};
  }

  /// Only its <rtps><userData> is a policy.
  Status participant(XMLElement& profile) {
    XMLElement& entity = add_child(profile, "domainparticipant_qos");
    for (XMLElement* child : children_of(profile)) {
      if (child == &entity || ignore(*child, "participant")) continue;
      if (name_of(*child) != "rtps")
        return at(*child).unknown(std::array<std::string_view, 2>{"domainId", "rtps"});
      if (auto status = at(*child).check_attributes({}); !status) return status;
      if (auto children = at(*child).children(); !children) return propagate(children);
      for (XMLElement* inner : children_of(*child)) {
        if (name_of(*inner) != "userData") {
          take_out(*inner);
        } else {
          entity.InsertEndChild(inner);
          policy(*inner);
        }
      }
      profile.DeleteChild(child);
    }
    return {};
  }

  Status policies_of(XMLElement& entity, XMLElement& profile) {
    if (auto children = at(entity).children(); !children) return propagate(children);
    const bool is_writer = entity.Name() == std::string_view("datawriter_qos");
    bool has_durability = false;
    for (XMLElement* child : children_of(entity)) {
      if (ignore(*child, "qos")) continue;
      if (!policy(*child)) continue;
      has_durability = has_durability || name_of(*child) == "durability";
      if (std::find(group_policies.begin(), group_policies.end(), name_of(*child)) == group_policies.end())
        continue;
      const char* group = is_writer ? "publisher_qos" : "subscriber_qos";
      XMLElement* found = profile.FirstChildElement(group);
      (found != nullptr ? *found : add_child(profile, group)).InsertEndChild(child);
    }
    // The default of Fast DDS's writers; that of its readers is the standard's.
    if (is_writer && !has_durability)
      add_child(add_child(entity, "durability"), "kind").SetText("TRANSIENT_LOCAL");
    return {};
  }

  /// Gives the policy our names. False: nothing of it is left.
  bool policy(XMLElement& element) {
    const std::string written(name_of(element));
    bool took_out = false;
    for (XMLElement* child : children_of(element)) took_out = ignore(*child, written) || took_out;
    if (took_out && element.NoChildren()) {
      element.GetDocument()->DeleteNode(&element);
      return false;
    }
    for (XMLElement* child : children_of(element)) {
      const char* text = child->GetText();
      if (text == nullptr) continue;
      if (written == "resourceLimitsQos" && is_no_limit(text)) child->SetText("LENGTH_UNLIMITED");
      if (written.ends_with("Data") && std::string_view(text).find('.') != std::string_view::npos)
        child->SetText(without_dots(text).c_str());
    }
    if (written == "partition") partition(element);
    if (const Renamed* names = find(policies, written)) rename(element, *names);
    return true;
  }

  /// 0 and less.
  static bool is_no_limit(std::string_view text) {
    return text == "0" || (text.size() > 1 && text.front() == '-' &&
                           text.find_first_not_of("0123456789", 1) == std::string_view::npos);
  }

  static void partition(XMLElement& element) {
    static constexpr Renamed list{"names", "name"};
    static constexpr Renamed one{"name", "element"};
    for (XMLElement* names : children_of(element)) {
      if (name_of(*names) != list.from) continue;
      rename(*names, list);
      for (XMLElement* name : children_of(*names))
        if (name_of(*name) == one.from) rename(*name, one);
    }
  }

  Status add_defaults(XMLElement& profile, const Renamed& kind) {
    for (const Default& each : defaults_)
      if (each.kind == kind.to)
        return at(profile).fails(Errc::parse_error,
                                 "is_default_profile is true here and for '{}'; only one {} may have it",
                                 each.profile->Attribute("name"), kind.from);
    for (XMLElement* child : children_of(profile)) defaults_.push_back({child->Name(), &profile});
    return {};
  }

  /// Writers and readers may have profiles of one name; here they are one profile.
  void merge(XMLElement& profile) {
    const auto [place, is_new] = by_name_.try_emplace(profile.Attribute("name"), &profile);
    if (is_new) return;
    for (XMLElement* child : children_of(profile)) place->second->InsertEndChild(child);
    for (Default& each : defaults_)
      if (each.profile == &profile) each.profile = place->second;
    profile.GetDocument()->DeleteNode(&profile);
  }

  /// The defaults of all kinds are one profile.
  void mark_default(XMLElement& library) {
    if (defaults_.empty()) return;
    XMLElement& first = *defaults_.front().profile;
    const bool is_one = std::all_of(defaults_.begin(), defaults_.end(),
                                    [&](const Default& each) { return each.profile == &first; });
    if (is_one && children_of(first).size() == defaults_.size())
      return first.SetAttribute("is_default_qos", true);
    XMLElement& all = add_child(library, "qos_profile");
    std::string name = "default";
    while (by_name_.contains(name)) name += "_profiles";
    all.SetAttribute("name", name.c_str());
    all.SetAttribute("is_default_qos", true);
    for (const Default& each : defaults_)
      add_child(all, each.kind.c_str()).SetAttribute("base_name", each.profile->Attribute("name"));
  }

  std::string_view file_;
  Warnings& warnings_;
  std::map<std::string, XMLElement*> by_name_;
  std::vector<Default> defaults_;
};

}  // namespace

Status translate_fast_dds(XMLElement& root, std::string_view file, Warnings& warnings) {
  if (name_of(root) == "profiles") return Translator(file, warnings).profiles(root);
  if (name_of(root) != "dds") return {};
  const auto children = children_of(root);
  const bool is_fast_dds = std::any_of(children.begin(), children.end(),
                                       [](const auto* each) { return name_of(*each) == "profiles"; });
  if (!is_fast_dds) return {};
  for (XMLElement* child : children) {
    Translator translator(file, warnings);
    if (translator.ignore(*child, "dds") || name_of(*child) != "profiles") continue;
    if (auto status = translator.profiles(*child); !status) return status;
  }
  return {};
}

}  // namespace llamada::qos::xml
