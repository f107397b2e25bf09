#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/dcps/time.hpp"
#include "llamada/qos/entity_qos.hpp"
#include "wakeups.hpp"

namespace llamada::dcps {

/// The instances that a DataWriter has registered, their keys and the DEADLINE it has offered of each.
///
/// Pure: no clock, no thread.
class WriterCache {
 public:
  struct Missed {
    std::uint64_t instance;
    std::int32_t count;
  };

  explicit WriterCache(const qos::DataWriterQos& qos) : qos_(qos) {}

  void set_qos(const qos::DataWriterQos& qos, Now now);

  bool is_registered(std::uint64_t key_hash) const { return instances_.contains(key_hash); }
  /// A second time does nothing. Errors: out_of_resources (max_instances), unsupported (another key with the
  /// same hash is registered).
  Status register_instance(std::uint64_t key_hash, std::vector<std::byte> key);
  /// Whether it is registered with this key.
  bool has_key(std::uint64_t key_hash, const std::vector<std::byte>& key) const;
  /// Errors: precondition_not_met (not registered).
  Status unregister_instance(std::uint64_t key_hash);
  /// The serialised key. Errors: not_found.
  Result<std::vector<std::byte>> key(std::uint64_t key_hash) const;
  std::vector<std::uint64_t> instances() const;

  /// The instance was written: its deadline begins anew.
  bool keeps_deadlines() const { return qos_.deadline.period != qos::duration_infinite; }
  void wrote(std::uint64_t key_hash, Now now);
  /// It will not be written any more unless wrote() says so.
  void disposed(std::uint64_t key_hash);

  /// The deadlines that have passed.
  std::vector<Missed> advance(Now now);
  std::chrono::nanoseconds next_wakeup() const { return wakeups_.next(); }

 private:
  struct Instance {
    std::vector<std::byte> key;
    std::chrono::nanoseconds deadline = never;
    std::chrono::nanoseconds planned_wakeup = never;
  };
  void plan(std::uint64_t key_hash, Instance& instance);

  qos::DataWriterQos qos_;
  std::map<std::uint64_t, Instance> instances_;
  Wakeups wakeups_;
};

}  // namespace llamada::dcps
