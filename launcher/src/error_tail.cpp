#include "error_tail.hpp"

#include <algorithm>

namespace llamada::launcher {
namespace {

/// Bytes above 127 stay: they are parts of letters in most places.
bool is_printable(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= ' ' && value != 127;
}

std::string fit(std::string_view line) {
  std::string text(line.substr(0, ErrorTail::line_bytes_max));
  if (text.size() < line.size()) text.replace(text.size() - 3, 3, "...");
  std::replace_if(
      text.begin(), text.end(), [](char byte) { return !is_printable(byte); }, '?');
  return text;
}

}  // namespace

void ErrorTail::take(std::string_view bytes) {
  if (bytes.size() >= kept_bytes_max) {
    bytes_ = bytes.substr(bytes.size() - kept_bytes_max);
    return;
  }
  if (bytes_.size() + bytes.size() > kept_bytes_max)
    bytes_.erase(0, bytes_.size() + bytes.size() - kept_bytes_max);
  bytes_ += bytes;
}

std::vector<std::string> ErrorTail::lines() const {
  std::vector<std::string> lines;
  std::string_view rest = bytes_;
  while (!rest.empty() && lines.size() < lines_max) {
    const std::size_t before = rest.rfind('\n');
    const std::string_view line = before == rest.npos ? rest : rest.substr(before + 1);
    if (!line.empty()) lines.push_back(fit(line));
    rest = before == rest.npos ? std::string_view() : rest.substr(0, before);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace llamada::launcher
