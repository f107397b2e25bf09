#include "library.hpp"

#include <algorithm>
#include <array>

#include "llamada/qos_xml/profile_file.hpp"
#include "policy_reader.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

bool is_name_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '.';
}

/// The `name` of a library or profile.
Result<std::string> read_name(const Element& element) {
  const char* attribute = element.attribute("name");
  if (attribute == nullptr) return element.fails(Errc::parse_error, "attribute 'name' is missing");
  const std::string_view name = attribute;
  if (name.empty()) return element.fails(Errc::parse_error, "attribute 'name' is empty");
  if (name.size() > profile_name_length_max) {
    return element.fails(Errc::out_of_resources, "the name {} has {} characters; the limit is {}",
                         quoted(name), name.size(), profile_name_length_max);
  }
  if (!std::all_of(name.begin(), name.end(), is_name_character)) {
    return element.fails(Errc::parse_error, "{} is not a name; legal: letters, digits, '_' and '.'",
                         quoted(name));
  }
  return std::string(name);
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

std::string_view without_root_scope(std::string_view name) {
  if (name.starts_with("::")) name.remove_prefix(2);
  return name;
}

}  // namespace

Result<Library> Library::read(const Element& root) {
  Library library;
  if (root.name() == "qos_library") {
    if (auto status = library.add_library(root); !status) return propagate(status);
    return library;
  }
  if (root.name() != "dds") return root.unknown(std::array<std::string_view, 2>{"dds", "qos_library"});
  if (auto status = root.check_attributes({}); !status) return propagate(status);
  auto children = root.children();
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    if (child.name() != "qos_library") return child.unknown(std::array<std::string_view, 1>{"qos_library"});
    if (auto status = library.add_library(child); !status) return propagate(status);
  }
  return library;
}

Status Library::add_library(const Element& element) {
  if (auto status = element.check_attributes({"name"}); !status) return status;
  auto name = read_name(element);
  if (!name) return propagate(name);
  if (!libraries_.insert(*name).second) {
    return element.fails(Errc::parse_error, "there is already a qos_library '{}' in this file", *name);
  }
  auto children = element.children();
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    if (child.name() != "qos_profile") return child.unknown(std::array<std::string_view, 1>{"qos_profile"});
    if (auto status = add_profile(child, *name); !status) return status;
  }
  return {};
}

Status Library::add_profile(const Element& element, const std::string& library) {
  if (auto status = element.check_attributes({"name", "base_name", "is_default_qos"}); !status) return status;
  auto name = read_name(element);
  if (!name) return propagate(name);
  auto is_default = read_is_default(element);
  if (!is_default) return propagate(is_default);
  Entry entry{element, library, std::move(*name), *is_default};
  if (!by_full_name_.emplace(entry.full_name(), entries_.size()).second) {
    return element.fails(Errc::parse_error, "there is already a qos_profile '{}' in this library",
                         entry.name);
  }
  entries_.push_back(std::move(entry));
  return {};
}

std::vector<std::string_view> Library::full_names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, index] : by_full_name_) names.push_back(name);
  return names;
}

Result<const Library::Entry*> Library::choose(std::string_view name, std::string_view file) const {
  name = without_root_scope(name);
  if (const auto found = by_full_name_.find(name); found != by_full_name_.end())
    return &entries_[found->second];
  const Entry* only = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.name != name) continue;
    if (only != nullptr) {
      return failure(Errc::not_found, "{}: more than one library has a profile {}; name one: {}, {}", file,
                     quoted(name), only->full_name(), entry.full_name());
    }
    only = &entry;
  }
  if (only != nullptr) return only;
  const auto names = full_names();
  if (names.empty()) return failure(Errc::not_found, "{}: there is no qos_profile in this file", file);
  return failure(Errc::not_found, "{}: there is no profile {}; there are: {}{}", file, quoted(name),
                 listed(names), suggestion(name, names));
}

Result<const Library::Entry*> Library::choose_default(std::string_view file) const {
  if (entries_.empty()) return failure(Errc::not_found, "{}: there is no qos_profile in this file", file);
  if (entries_.size() == 1) return &entries_.front();
  const Entry* chosen = nullptr;
  for (const Entry& entry : entries_) {
    if (!entry.is_default) continue;
    if (chosen != nullptr) {
      return entry.element.fails(Errc::parse_error,
                                 "is_default_qos is true here and for '{}'; only one may have it",
                                 chosen->full_name());
    }
    chosen = &entry;
  }
  if (chosen != nullptr) return chosen;
  return failure(Errc::not_found,
                 "{}: there are {} profiles and none has is_default_qos=\"true\"; name one as {}:PROFILE: {}",
                 file, entries_.size(), file, listed(full_names()));
}

Result<const Library::Entry*> Library::base_of(const Entry& entry) const {
  const char* attribute = entry.element.attribute("base_name");
  if (attribute == nullptr) return nullptr;
  const std::string_view name = without_root_scope(attribute);
  auto found = by_full_name_.find(name);
  if (found == by_full_name_.end()) found = by_full_name_.find(entry.library + "::" + std::string(name));
  if (found != by_full_name_.end()) return &entries_[found->second];
  // A name without a library means this library, so those are what a slip of the pen is compared with.
  std::vector<std::string_view> names = full_names();
  for (const Entry& other : entries_) {
    if (other.library == entry.library && &other != &entry) names.push_back(other.name);
  }
  return entry.element.fails(Errc::not_found, "base_name {} names no profile in this file; there are: {}{}",
                             quoted(attribute), listed(full_names()), suggestion(name, names));
}

Result<std::vector<const Library::Entry*>> Library::chain_of(const Entry& entry) const {
  std::vector<const Entry*> chain{&entry};
  while (true) {
    const Entry& last = *chain.back();
    auto base = base_of(last);
    if (!base) return propagate(base);
    if (*base == nullptr) return chain;
    if (std::find(chain.begin(), chain.end(), *base) != chain.end()) {
      return last.element.fails(Errc::parse_error,
                                "base_name {} closes a circle: it is itself derived from '{}'",
                                quoted(last.element.attribute("base_name")), last.full_name());
    }
    if (chain.size() == base_name_chain_length_max) {
      return last.element.fails(Errc::out_of_resources, "a chain of base_name is longer than {} profiles",
                                base_name_chain_length_max);
    }
    chain.push_back(*base);
  }
}

Result<Profile> Library::resolve(std::optional<std::string_view> name, std::string_view file) const {
  auto entry = name ? choose(*name, file) : choose_default(file);
  if (!entry) return propagate(entry);
  auto chain = chain_of(**entry);
  if (!chain) return propagate(chain);
  Profile profile;
  for (auto each = chain->rbegin(); each != chain->rend(); ++each) {
    if (auto status = read_profile_element((*each)->element, profile); !status) return propagate(status);
  }
  profile.name = (*entry)->full_name();
  if (auto status = check_consistent(profile); !status) return (*entry)->element.fails(status.error());
  if (auto status = check_enforced(profile); !status) return (*entry)->element.fails(status.error());
  return profile;
}

}  // namespace llamada::qos::xml
