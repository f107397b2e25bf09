#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llamada::launcher {

/// The end of what a process wrote on its standard error: what a person would look at first when it has died.
class ErrorTail {
 public:
  static constexpr std::size_t kept_bytes_max = 4096;
  static constexpr std::size_t lines_max = 4;
  static constexpr std::size_t line_bytes_max = 160;

  void take(std::string_view bytes);
  void clear() { bytes_.clear(); }

  /// The last lines that are not empty, the oldest first, without their ends; what is no printable character
  /// is a '?', what is too long ends in "...".
  std::vector<std::string> lines() const;

 private:
  std::string bytes_;
};

}  // namespace llamada::launcher
