#pragma once

#include <tinyxml2.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "element.hpp"
#include "llamada/base/result.hpp"

namespace llamada::qos::xml {

/// One file's tree, in the form of DDS-XML, and its name for messages. Elements borrow both, so it stays
/// where it was made.
class Document {
 public:
  /// Errc::parse_error for what is not XML, Errc::out_of_resources above profile_file_size_max_bytes.
  static Result<std::unique_ptr<Document>> parse(std::string_view text,
                                                 std::string_view file_name_for_messages);
  /// parse() of a regular file. Also Errc::not_found, Errc::invalid_argument and Errc::system.
  static Result<std::unique_ptr<Document>> load(const std::filesystem::path& path);

  Element root() const { return {*root_, file_}; }
  const std::string& file() const { return file_; }
  /// What of another vendor's form has no effect.
  const Warnings& warnings() const { return warnings_; }

 private:
  std::string file_;
  tinyxml2::XMLDocument tree_;
  const tinyxml2::XMLElement* root_ = nullptr;
  Warnings warnings_;
};

}  // namespace llamada::qos::xml
