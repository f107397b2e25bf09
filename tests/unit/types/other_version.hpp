#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// The types of sample_types.hpp as an older or newer program has them: same names, other members. In a source
// of its own, as it would be in another program.
std::uint64_t other_plain_hash();
std::size_t other_plain_size();
std::uint64_t shorter_outer_hash();
std::uint64_t rekeyed_outer_hash();
