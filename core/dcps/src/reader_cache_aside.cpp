// RESOURCE_LIMITS max_instances: samples of one instance too many. The change that makes room, an unregister,
// comes behind them, so they are set aside and what follows is looked at.
#include <utility>

#include "reader_cache.hpp"

namespace llamada::dcps {
namespace {

// A reader looks no farther ahead: then its writers wait.
constexpr std::size_t aside_count_max = 4096;
constexpr std::size_t aside_bytes_max = 64 << 20;

}  // namespace

// False: too many are there already; the sample is as it was.
bool ReaderCache::set_aside(const Arrival& arrival, Room room) {
  const std::uint64_t instance = arrival.sample.header().instance;
  if (reject(arrival.writer, arrival.sample, room)) return true;
  const std::size_t size_bytes = arrival.sample.data().size();
  const bool is_full = aside_.size() >= aside_count_max || aside_bytes_ + size_bytes > aside_bytes_max;
  if (is_full && !offers_aside_ && !aside_.empty()) return false;
  arrival.sample.let_evacuate(true);
  aside_bytes_ += size_bytes;
  ++aside_counts_[instance];
  aside_for_samples_ = aside_for_samples_ || room != Room::no_instances;
  aside_.push_back({arrival.writer.info.id, std::move(arrival.sample), arrival.reception_timestamp});
  return true;
}

bool ReaderCache::has_aside(const topics::EndpointId& writer) const {
  for (const Aside& each : aside_)
    if (each.writer == writer) return true;
  return false;
}

// Those that still do not fit are set aside again, and so are those behind them of the same instance.
void ReaderCache::offer_aside(Now now) {
  std::deque<Aside> waiting = std::exchange(aside_, {});
  aside_counts_.clear();
  aside_bytes_ = 0;
  aside_for_samples_ = false;
  offers_aside_ = true;
  for (Aside& each : waiting) {
    Writer* writer = find_writer(each.writer);
    if (writer == nullptr) continue;
    const Arrival arrival{*writer, each.sample, each.reception_timestamp};
    if (!admit(arrival, now)) set_aside(arrival, Room::no_samples);
  }
  offers_aside_ = false;
  std::vector<topics::EndpointId> gone;
  for (const auto& [id, writer] : writers_)
    if (writer.gone) gone.push_back(id);
  for (const topics::EndpointId& id : gone) forget_if_gone(id, now);
}

}  // namespace llamada::dcps
