#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "element.hpp"
#include "llamada/qos/profile.hpp"

namespace llamada::qos::xml {

/// The profiles of a document, by name. Borrows the document.
class Library {
 public:
  /// Of <dds> or a bare <qos_library>. Looks at libraries and at the attributes of profiles, not into them.
  static Result<Library> read(const Element& root);

  /// The profile of that name (parse_profile()), with its bases resolved, consistent and enforced.
  /// `file` is for messages.
  Result<Profile> resolve(std::optional<std::string_view> name, std::string_view file) const;

 private:
  struct Entry {
    Element element;
    std::string library;
    std::string name;
    bool is_default;

    std::string full_name() const { return library + "::" + name; }
  };

  Status add_library(const Element& element);
  Status add_profile(const Element& element, const std::string& library);

  Result<const Entry*> choose(std::string_view name, std::string_view file) const;
  Result<const Entry*> choose_default(std::string_view file) const;
  Result<const Entry*> base_of(const Entry& entry) const;
  Result<std::vector<const Entry*>> chain_of(const Entry& entry) const;
  std::vector<std::string_view> full_names() const;

  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> by_full_name_;
  std::set<std::string, std::less<>> libraries_;
};

}  // namespace llamada::qos::xml
