#pragma once

#include <string>
#include <vector>

namespace llamada::launcher {

/// The IP addresses of this host's interfaces that are up, IPv4 before IPv6, those that loop back last. Of
/// IPv6 only those that need no interface's name behind them.
std::vector<std::string> own_addresses();

/// Those of own_addresses() at which other processes can be told to connect: IPv4, and those that loop back
/// only if there is no other.
std::vector<std::string> own_ipv4_addresses();

}  // namespace llamada::launcher
