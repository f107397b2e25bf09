#pragma once

#include <cstdint>
#include <string>

namespace llamada::tools {

struct PersistOptions {
  std::string store;       ///< The directory.
  std::string store_kind;  ///< segments or sqlite; empty: that of the store that is there, or segments.
  std::uint32_t domain = 0;
  std::string driver;         ///< The name of its socket; empty: the user's node driver.
  int ready_descriptor = -1;  ///< Gets one byte when topics are kept.
};

/// Keeps the topics of a domain until SIGINT or SIGTERM. The exit code.
int persist_domain(const PersistOptions& options);

}  // namespace llamada::tools
