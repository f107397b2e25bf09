#include "document.hpp"

#include <fstream>
#include <system_error>

#include "fast_dds.hpp"
#include "llamada/qos_xml/profile_file.hpp"
#include "markup.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

std::string_view explain(tinyxml2::XMLError error) {
  switch (error) {
    case tinyxml2::XML_ERROR_PARSING_ELEMENT:
      return "an element is malformed or not closed";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute is malformed or stands there twice";
    case tinyxml2::XML_ERROR_PARSING_TEXT:
      return "a text is malformed";
    case tinyxml2::XML_ERROR_PARSING_CDATA:
      return "a CDATA section is not closed";
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      return "a comment is not closed";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "a declaration is malformed or misplaced";
    case tinyxml2::XML_ERROR_PARSING_UNKNOWN:
      return "a <!...> is not closed";
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "there is no element";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return "an end tag does not match its element";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return "elements are nested too deeply";
    default:
      return "it cannot be parsed";
  }
}

/// The document's one element. Anything beside it but comments and the XML declaration is refused.
Result<const tinyxml2::XMLElement*> root_of(const tinyxml2::XMLDocument& document, std::string_view file) {
  const tinyxml2::XMLElement* root = nullptr;
  for (auto* node = document.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToComment() != nullptr || node->ToDeclaration() != nullptr) continue;
    if (node->ToElement() == nullptr) {
      return failure(Errc::parse_error, "{}:{}: {} stands outside of the root element", file,
                     node->GetLineNum(), quoted(node->Value()));
    }
    if (root != nullptr) {
      return failure(Errc::parse_error, "{}:{}: a second root element {}; a file has one", file,
                     node->GetLineNum(), quoted(node->Value()));
    }
    root = node->ToElement();
  }
  if (root == nullptr) return failure(Errc::parse_error, "{}: not XML: there is no element", file);
  return root;
}

Status check_text(std::string_view text, std::string_view file) {
  if (text.size() > profile_file_size_max_bytes) {
    return failure(Errc::out_of_resources,
                   "{}: the file has more than {} bytes, the limit for a profile file", file,
                   profile_file_size_max_bytes);
  }
  if (text.find('\0') != text.npos) {
    return failure(Errc::parse_error, "{}: not XML: there is a NUL byte in it", file);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Document>> Document::parse(std::string_view text,
                                                  std::string_view file_name_for_messages) {
  auto document = std::make_unique<Document>();
  document->file_ = file_name_for_messages;
  if (auto status = check_text(text, document->file_); !status) return propagate(status);
  auto markup = markup_of(text, document->file_);
  if (!markup) return propagate(markup);
  if (const auto error = document->tree_.Parse(markup->data(), markup->size());
      error != tinyxml2::XML_SUCCESS) {
    return failure(Errc::parse_error, "{}:{}: not XML: {}", document->file_, document->tree_.ErrorLineNum(),
                   explain(error));
  }
  auto root = root_of(document->tree_, document->file_);
  if (!root) return propagate(root);
  document->root_ = *root;
  if (auto status = translate_fast_dds(*document->tree_.RootElement(), document->file_, document->warnings_);
      !status)
    return propagate(status);
  return document;
}

Result<std::unique_ptr<Document>> Document::load(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return failure(Errc::not_found, "{}: there is no such file", path.string());
  }
  if (error) return system_failure(path.string(), error.value());
  // A pipe would wait for a writer, a directory has no text.
  if (status.type() != std::filesystem::file_type::regular) {
    return failure(Errc::invalid_argument, "{}: not a regular file", path.string());
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return system_failure("open " + path.string());
  std::string text(profile_file_size_max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return system_failure("read " + path.string());
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse(text, path.string());
}

}  // namespace llamada::qos::xml
