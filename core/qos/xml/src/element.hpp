#pragma once

#include <tinyxml2.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"

// Strict reading of a tinyxml2 tree: nothing is skipped but comments, and every error says where it is.
namespace llamada::qos::xml {

/// One sentence each, with the place.
using Warnings = std::vector<std::string>;

/// An element and the name of its file for messages. Borrows both. If an element was renamed, its user data
/// is the name that the file has, for messages.
class Element {
 public:
  Element(const tinyxml2::XMLElement& element, std::string_view file) : element_(&element), file_(file) {}

  /// Without a namespace's prefix: "dds:kind" is "kind".
  std::string_view name() const;

  /// "fault.xml:12: dds/qos_library[llamada]/qos_profile[ft]/datawriter_qos: ".
  std::string where() const { return where(line()); }

  /// A failure here: the place and the sentence.
  template <typename... Arguments>
  tl::unexpected<Error> fails(Errc code, fmt::format_string<Arguments...> format,
                              Arguments&&... arguments) const {
    return tl::unexpected<Error>(
        Error(code, where() + fmt::format(format, std::forward<Arguments>(arguments)...)));
  }

  /// The same error, at this place.
  tl::unexpected<Error> fails(const Error& error) const { return fails(error.code(), "{}", error.text()); }

  /// The elements within, in their order. Fails at text between them and at anything else but comments.
  Result<std::vector<Element>> children() const;

  /// children(), of which each must be one of `legal`; but those that is_ignored() knows within this element
  /// are left out, with a warning. Errc::unsupported for those that refusal() knows, unless they change
  /// nothing.
  Result<std::vector<Element>> children_of(std::span<const std::string_view> legal,
                                           Warnings* warnings = nullptr) const;

  /// children_of(), of which each name may stand only once.
  Result<std::vector<Element>> children_once(std::span<const std::string_view> legal,
                                             Warnings* warnings = nullptr) const;

  /// The text within, without the blanks around it. Fails if it is empty or there are elements.
  Result<std::string> text() const;
  /// The same; it may be empty.
  Result<std::string> text_or_empty() const;

  std::string_view file() const { return file_; }
  /// Of an element that was made from what another vendor's file has, that of what is around it.
  int line() const;

  /// The value of an attribute, or null.
  const char* attribute(const char* name) const { return element_->Attribute(name); }

  /// Fails at an attribute that is neither legal nor ignored. (One that stands there twice is refused by
  /// tinyxml2.)
  Status check_attributes(std::initializer_list<std::string_view> legal,
                          std::initializer_list<std::string_view> ignored = {}) const;

  /// The failure "element 'x' is not known here; legal: ...; did you mean ...?".
  tl::unexpected<Error> unknown(std::span<const std::string_view> legal) const;

  bool operator==(const Element& other) const { return element_ == other.element_; }

 private:
  std::string where(int line) const;
  /// Whether the element, one of refusal() within `parent`, or the one element in it has the value that
  /// changes nothing.
  bool is_harmless(std::string_view parent) const;

  const tinyxml2::XMLElement* element_;
  std::string_view file_;
};

}  // namespace llamada::qos::xml
