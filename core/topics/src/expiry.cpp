#include "expiry.hpp"

#include <algorithm>

namespace llamada::topics::detail {
namespace {

/// Samples share an entry if they expire within this part of LIFESPAN.
constexpr std::int64_t entries_per_lifespan = 256;
/// Reached only by source timestamps that go to and fro.
constexpr std::size_t entry_count_max = 4096;

std::int64_t sum(std::int64_t moment_ns, std::int64_t span_ns) {
  return moment_ns > INT64_MAX - span_ns ? INT64_MAX : moment_ns + span_ns;
}

}  // namespace

void Expiry::set_lifespan(qos::Duration lifespan) {
  lifespan_ns_ = lifespan == qos::duration_infinite ? never_ns : lifespan.count();
  grain_ns_ = lifespan_ns_ / entries_per_lifespan;
}

void Expiry::add_finite(std::uint64_t sequence_number, std::int64_t source_timestamp_ns) {
  const std::int64_t expires_ns = sum(source_timestamp_ns, lifespan_ns_);
  if (!entries_.empty()) {
    Entry& last = entries_.back();
    const bool is_near =
        expires_ns <= sum(last.first_ns, grain_ns_) && expires_ns >= last.first_ns - grain_ns_;
    if (is_near || entries_.size() >= entry_count_max) {
      last.last_number = sequence_number;
      last.last_ns = std::max(last.last_ns, expires_ns);
      return;
    }
  }
  entries_.push_back({sequence_number, expires_ns, expires_ns});
}

std::uint64_t Expiry::expired_through(std::int64_t now_ns) {
  while (!entries_.empty() && entries_.front().last_ns <= now_ns) {
    expired_through_ = entries_.front().last_number;
    entries_.pop_front();
  }
  return expired_through_;
}

}  // namespace llamada::topics::detail
