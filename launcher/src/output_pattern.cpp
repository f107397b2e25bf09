#include "output_pattern.hpp"

#include <unistd.h>

namespace llamada::launcher {
namespace {

/// Asked for once: each line of output may need it.
const std::string& host_name() {
  static const std::string host = [] {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return std::string(name);
  }();
  return host;
}

}  // namespace

std::string fill_pattern(std::string_view pattern, std::string_view rank, std::string_view host) {
  std::string filled;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%' || at + 1 == pattern.size()) {
      filled += pattern[at];
      continue;
    }
    switch (pattern[++at]) {
      case 'r':
        filled += rank;
        break;
      case 'h':
        filled += host.empty() ? std::string_view(host_name()) : host;
        break;
      case 'g':
      case 'p':
        filled += '0';
        break;
      case '%':
        filled += '%';
        break;
      default:
        filled += {'%', pattern[at]};
    }
  }
  return filled;
}

}  // namespace llamada::launcher
