#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/service/kept_topic.hpp"
#include "llamada/store/store.hpp"

namespace llamada::service {

/// A sample that a store has, without its data.
struct KeptItem {
  KeptSample sample;
  std::uint64_t number = 0;  ///< In its stream.
};

/// What a store has of a topic: so much of it as two services compare.
struct KeptState {
  struct Writer {
    Seen seen;
    qos::EndpointQos qos;
    std::uint64_t record = 0;  ///< The item that says so; 0: there is none.
  };
  KeptTopic topic;
  store::StreamId stream = 0;
  std::uint64_t last_number = 0;
  std::map<topics::Guid, Writer> writers;
  std::vector<KeptItem> items;  ///< In the order of their numbers; each writer's in its order.
  std::map<std::uint64_t, std::int64_t> disposed;  ///< Instances that are disposed, and when that was.
  /// Items that an interrupted alignment has left: they count as not there.
  std::vector<std::uint64_t> left_over;
  std::vector<std::uint64_t> damaged;  ///< Items that cannot be read.
  bool lost_batches = false;           ///< Of some damaged items nothing is known.

  bool is_damaged() const { return !damaged.empty() || lost_batches; }
  bool has_seen(const topics::Origin& origin) const {
    const auto found = writers.find(origin.writer);
    return found != writers.end() && found->second.seen.has(origin.number);
  }
};

/// Of a stream with a topic; what waits in the open batch is not seen. Errors: the store's, parse_error.
Result<KeptState> read_state(const store::Store& store, const store::StreamInfo& stream);

/// Calls `on_item` once, or not at all if the item is damaged or not there. Errors: the store's.
Status read_item(const store::Store& store, store::StreamId stream, std::uint64_t number,
                 const std::function<void(const store::Item&)>& on_item);

/// The samples of `own` whose instances the other store has forgotten: it has dealt with them, and has
/// nothing of their instances. That an instance lacks a sample that was replaced is not enough: two stores
/// that took its writers in another order would drop each other's. An absent sample proves nothing if the
/// other store is damaged.
std::set<topics::Origin> forgotten(const KeptState& own, const KeptState& other);

/// True if a sample of another store is to be added to this one: this store has not dealt with it, or has
/// lost it to damage. Else this store has dropped it for good.
bool is_missing(const store::Store& store, const KeptState& own, const KeptSample& sample);

}  // namespace llamada::service
