#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "test.hpp"

namespace llamada::sim {

/// Runs seeds 1 to `count`, or LLAMADA_SIM_SEEDS of them; from LLAMADA_SIM_SEED on, which without a count
/// runs alone. `run` gives what is wrong, or an empty text. The first seed that is wrong is printed.
inline void run_seeds(const std::function<std::string(std::uint64_t seed)>& run, std::uint64_t count) {
  const auto number = [](const char* name) -> std::uint64_t {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  };
  const std::uint64_t only = number("LLAMADA_SIM_SEED");
  if (only != 0) count = 1;
  if (const std::uint64_t wanted = number("LLAMADA_SIM_SEEDS"); wanted != 0) count = wanted;
  const std::uint64_t first = only != 0 ? only : 1, last = first + count - 1;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string wrong = run(seed);
    if (wrong.empty()) continue;
    FAIL("seed " << seed << ": " << wrong << " (LLAMADA_SIM_SEED=" << seed << " replays it)");
  }
}

}  // namespace llamada::sim
