#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kept_state.hpp"
#include "topic_keeper.hpp"

namespace llamada::service {

/// All topics of a domain that a store keeps.
///
/// Threads: the store's.
class Topics {
 public:
  Topics(store::Store& store, const Clock& clock, std::uint32_t domain, TopicKeeper::Say say)
      : store_(store), clock_(clock), domain_(domain), say_(std::move(say)) {}

  /// Opens all that the store has. Errors: the store's, parse_error.
  Status load();
  /// Finds the topic or declares it. Errors: as TopicKeeper::open().
  Result<TopicKeeper*> open(const KeptTopic& topic);
  const std::map<TopicKey, std::unique_ptr<TopicKeeper>>& all() const { return keepers_; }
  store::Store& store() { return store_; }
  /// The store meets another one: aligned_stream. Errors: the store's.
  Status remember_all();

  /// Completes the batches of all topics and writes them. Errors: the store's.
  Result<store::BatchNumber> write();
  /// Writes, and gives what the store then has of each topic. Errors: the store's, as read_state().
  Result<std::vector<KeptState>> states();
  /// What it has of one; an unknown topic is declared and written. Errors: as write() and read_state().
  Result<KeptState> state_of(const KeptTopic& topic);
  std::size_t sample_count() const;

 private:
  store::Store& store_;
  const Clock& clock_;
  const std::uint32_t domain_;
  TopicKeeper::Say say_;
  bool remembers_all_ = false;
  std::map<TopicKey, std::unique_ptr<TopicKeeper>> keepers_;
};

}  // namespace llamada::service
