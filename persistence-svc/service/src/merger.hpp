#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "kept_state.hpp"

namespace llamada::service {

/// Brings samples of another store into a stream, each origin's in its order, and ends others. Of an origin
/// whose sample has to come before some that are there, those are written again behind it.
///
/// A crash at any moment leaves each sample that was there, once: what repeats an origin or falls behind in
/// it was left over (KeptState::left_over), and the older copies are dropped from the end.
///
/// Nobody else changes the stream meanwhile. Threads: the store's.
class Merger {
 public:
  /// The store has written all of its open batch.
  Merger(store::Store& store, KeptState own);

  const KeptState& own() const { return own_; }
  bool has(const topics::Origin& origin) const;
  /// Each origin's in its order; one that is there is left as it is. Errors: the store's.
  Status add(const KeptSample& sample, std::span<const std::byte> body);
  /// It is to stay, if finish() drops the others.
  void confirm(const topics::Origin& origin);
  /// What is known of a writer once finish() has written it: before that, what is missing must not look as if
  /// it had been dropped. Before the writer's first sample. Errors: the store's.
  Status set_writer(const topics::Guid& writer, const Seen& seen, const qos::EndpointQos& qos);
  /// The same of what both stores know of it; its policies are those that this one has, if it knows it.
  Status set_writer_of_both(const topics::Guid& writer, const KeptState::Writer& other);

  struct End {
    bool drops_unconfirmed = false;
    bool drops_damaged = false;
    std::set<topics::Origin> forgotten;
  };
  /// Writes all that is left and makes it durable. Errors: the store's.
  Status finish(const End& end);
  /// The same when not all has come: nothing is dropped, and what set_writer() said does not hold. Errors:
  /// the store's.
  Status stop() {
    writers_.clear();
    return finish({});
  }

  std::size_t added_count() const { return added_count_; }
  std::size_t dropped_count() const { return dropped_count_; }

 private:
  struct Place {
    std::uint64_t number = 0;  // in the stream
    bool is_confirmed = false;
  };
  using Places = std::map<std::uint64_t, Place>;  // by the number at the writer

  Status append(store::Item item);
  Status move_behind(Places& places, std::uint64_t after, std::uint64_t before);
  Status move(Place& place);
  Status record(const topics::Guid& guid, const Seen& seen, const qos::EndpointQos& qos);
  void choose_drops(const End& end);

  store::Store& store_;
  KeptState own_;
  std::uint64_t next_number_;
  std::map<topics::Guid, Places> places_;
  std::map<topics::Guid, std::uint64_t> moved_through_;  // of origins that got samples
  std::map<topics::Guid, KeptState::Writer> writers_;    // as they are to be in the end
  std::vector<std::uint64_t> drops_;
  std::size_t added_count_ = 0;
  std::size_t dropped_count_ = 0;
};

}  // namespace llamada::service
