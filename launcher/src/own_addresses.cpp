#include "own_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace llamada::launcher {
namespace {

std::string text_of(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
  } else if (address.sa_family == AF_INET6) {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
    if (!IN6_IS_ADDR_LINKLOCAL(&ipv6.sin6_addr)) inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof text);
  }
  return text;
}

bool is_ipv6(std::string_view address) { return address.find(':') != address.npos; }
bool loops_back(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace

std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next)
    if (each->ifa_addr != nullptr && (each->ifa_flags & IFF_UP) != 0)
      if (std::string text = text_of(*each->ifa_addr); !text.empty()) found.push_back(std::move(text));
  std::stable_sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return 2 * loops_back(a) + is_ipv6(a) < 2 * loops_back(b) + is_ipv6(b);
  });
  return found;
}

std::vector<std::string> own_ipv4_addresses() {
  std::vector<std::string> found = own_addresses();
  std::erase_if(found, is_ipv6);
  if (!found.empty() && !loops_back(found.front())) std::erase_if(found, loops_back);
  return found;
}

}  // namespace llamada::launcher
