#pragma once

#include <cstdlib>

namespace llamada {

/// How many ranks of a job in this process share a node, as LLAMADA_TEST_RANKS_PER_NODE says: a suite is run
/// once more with ranks that are far from each other. 0: all are on one.
inline int ranks_per_node() {
  const char* text = std::getenv("LLAMADA_TEST_RANKS_PER_NODE");
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace llamada
