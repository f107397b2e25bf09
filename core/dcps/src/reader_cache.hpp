#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "coherent_sets.hpp"
#include "llamada/base/result.hpp"
#include "llamada/dcps/loaned_samples.hpp"
#include "llamada/dcps/sample_info.hpp"
#include "llamada/dcps/status.hpp"
#include "llamada/qos/entity_qos.hpp"
#include "llamada/topics/sample.hpp"
#include "reader_instance.hpp"
#include "recent_keys.hpp"
#include "wakeups.hpp"

namespace llamada::dcps {

/// What a reader's cache has to know of a matched writer.
struct CacheWriter {
  topics::EndpointId id;
  /// Which publisher of its participant it belongs to.
  std::uint64_t publisher = 0;
  std::int32_t strength = 0;
  Duration lifespan = qos::duration_infinite;
  /// The sets of its publisher up to this one had ended before it came.
  std::uint32_t passed_set = 0;
};

struct ReaderCacheOptions {
  qos::DataReaderQos qos;
  qos::Presentation presentation;
  /// Whether a sample with this data is wanted; empty: all are.
  std::function<bool(std::span<const std::byte>)> filter;
  /// The key of a sample, serialised; empty for a topic without key.
  std::function<std::vector<std::byte>(std::span<const std::byte>)> key_of;
  /// Whether two keys can have this hash; empty: none can.
  std::function<bool(std::uint64_t)> is_hash_ambiguous;
  /// Counts the samples of several readers, so that their orders can be compared; nullptr: each its own.
  std::uint64_t* order_counter = nullptr;
  /// Called when there are news and were none before; empty: the cache is to be asked.
  std::function<void()> on_news;
};

/// Which samples a read or a take is to give (DDS 1.4, 2.2.2.5.3.8 to 2.2.2.5.3.19).
struct ReadSelector {
  enum class Scope : std::uint8_t { all, instance, next_instance };

  DataState state;
  std::int32_t max_samples = qos::length_unlimited;
  Scope scope = Scope::all;
  /// The key hash of the instance, or the one after which the next is looked for.
  std::uint64_t instance = 0;
  /// next_instance from the beginning.
  bool from_first_instance = false;
  /// A query: samples without data never match it. Empty: all match.
  std::function<bool(std::span<const std::byte>)> matches;
  /// The query's order of objects, which `object_of` takes from samples with data; empty: as PRESENTATION and
  /// DESTINATION_ORDER say.
  std::function<bool(const void*, const void*)> before;
  std::function<std::shared_ptr<const void>(std::span<const std::byte>)> object_of;

  /// Whether only its states leave out anything.
  bool selects_all() const {
    return scope == Scope::all && max_samples == qos::length_unlimited && !matches && !before;
  }
};

/// What happened in the cache since it was last asked.
struct ReaderCacheNews {
  struct Rejected {
    SampleRejectedKind reason;
    InstanceHandle instance;
  };
  /// Something can be read that could not before.
  bool data = false;
  std::int32_t lost_count = 0;
  std::vector<Rejected> rejected;
  struct Missed {
    std::int32_t count;
    InstanceHandle instance;
  };
  std::vector<Missed> deadlines_missed;
};

/// The samples of one DataReader and all that DDS 1.4 says of them: instance states, HISTORY,
/// RESOURCE_LIMITS, LIFESPAN, TIME_BASED_FILTER, OWNERSHIP, DESTINATION_ORDER, PRESENTATION, DEADLINE,
/// READER_DATA_LIFECYCLE.
///
/// Pure: no clock and no thread; the time comes in with the calls and never goes back.
class ReaderCache {
 public:
  /// Without the data's place, which the sample has.
  using Selected = LoanedSamples::Sample;

  explicit ReaderCache(ReaderCacheOptions options);
  ReaderCache(const ReaderCache&) = delete;
  ReaderCache& operator=(const ReaderCache&) = delete;

  /// Policies that are changeable take effect from here on.
  void set_qos(const qos::DataReaderQos& qos, Now now);
  void set_filter(std::function<bool(std::span<const std::byte>)> filter) {
    options_.filter = std::move(filter);
  }

  // The writers.
  void add_writer(const CacheWriter& writer);
  /// Its policies have changed.
  void update_writer(const CacheWriter& writer);
  void remove_writer(const topics::EndpointId& writer, Now now);
  /// The writer has lost its liveliness: it writes none of its instances until it shows itself again.
  void writer_not_alive(const topics::EndpointId& writer, Now now);

  // What comes from them.

  /// Takes a sample. False: there is no room and the writer is to wait; the sample is as it was and is
  /// offered again later. A BEST_EFFORT reader drops it instead.
  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample, Now now);
  void on_samples_lost(const topics::EndpointId& writer, std::uint64_t count);
  /// The writer has written a sample that came before from a persistence service.
  void on_known_sample(const topics::EndpointId& writer, const topics::SampleHeader& header, Now now);

  // Time.

  /// Does what is due.
  void advance(Now now);
  /// When advance() has to be called next, on the monotonic clock; never: not by itself.
  std::chrono::nanoseconds next_wakeup() const { return wakeups_.next(); }

  // The application.

  /// Reads or takes; each sample is on loan until give_back().
  std::vector<Selected> select(const ReadSelector& selector, bool take, Now now);
  /// The same, into the room of a vector that is not needed any more.
  void select(const ReadSelector& selector, bool take, Now now, std::vector<Selected>& found);
  /// Takes all there is, if that is of one instance, in the states, and in the order in which it lies there:
  /// the usual case of topics without keys. False: nothing was done.
  bool take_all(const DataState& states, Now now, std::vector<Selected>& found);
  void give_back(CachedSample* sample);
  /// Whether select() would give anything.
  bool any(const ReadSelector& selector, Now now);
  /// Whether samples have come that wait for another instance to make room.
  bool has_samples_aside() const { return !aside_.empty(); }
  /// Whether it holds no sample at all.
  bool is_empty() const { return filled_.empty(); }
  std::size_t loan_count() const { return loan_count_; }

  bool knows_instance(std::uint64_t key_hash) const { return instances_.contains(key_hash); }
  /// Whether it is known with this key.
  bool has_key(std::uint64_t key_hash, std::span<const std::byte> key) const;
  /// The serialised key, also of an instance that is not known any more: while a sample of it is on loan, and
  /// afterwards if it is one of the last that went (RecentKeys). Errors: not_found.
  Result<std::vector<std::byte>> key_value(std::uint64_t key_hash) const;

  ReaderCacheNews take_news();
  /// Whether data are all the news there is: then they are none any more.
  bool take_data_alone() {
    if (news_.lost_count > 0 || !news_.rejected.empty() || !news_.deadlines_missed.empty()) return false;
    has_news_ = false;
    return std::exchange(news_.data, false);
  }

  // Access to a group: the subscriber decides what of several readers can be seen together.

  /// New samples are refused until thaw().
  void freeze() { frozen_ = true; }
  void thaw();
  void visit_samples(const std::function<void(CachedSample&)>& visit);
  /// Those that select() would give.
  void visit_selected(const ReadSelector& selector, Now now,
                      const std::function<void(const CachedSample&)>& visit);

  /// Coherent sets of GROUP scope are held until the subscriber lets them go.
  struct WaitingSet {
    topics::EndpointId writer;
    std::uint64_t publisher;
    std::uint32_t number;
    bool whole;
  };
  std::vector<WaitingSet> waiting_sets() const;
  /// The highest number of a set of the publisher that is known to have ended.
  std::uint32_t ended_through(std::uint64_t participant, std::uint64_t publisher) const;
  /// Whether the end of the set, or something behind it, has come from all writers of the publisher.
  bool has_passed(std::uint64_t participant, std::uint64_t publisher, std::uint32_t set) const;
  void release_set(const topics::EndpointId& writer, bool whole, Now now);

 private:
  struct Writer {
    CacheWriter info;
    CoherentSets sets;
    std::uint64_t last_rejected = 0;
    /// It is unmatched; what is left are sets that wait.
    bool gone = false;
  };
  struct Arrival {
    Writer& writer;
    topics::Sample& sample;
    Timestamp reception_timestamp;
  };
  /// A sample that waits for another instance to make room.
  struct Aside {
    topics::EndpointId writer;
    topics::Sample sample;
    Timestamp reception_timestamp;
  };
  enum class Room : std::uint8_t { yes, no_instances, no_samples, no_samples_per_instance };
  using Key = std::vector<std::byte>;

  // Admission: reader_cache.cpp.
  Writer* find_writer(const topics::EndpointId& id);
  bool admit(const Arrival& arrival, Now now);
  bool admit_data(const Arrival& arrival, Now now);
  bool admit_change(const Arrival& arrival, Now now);
  void take_in(ReaderInstance& instance, const Arrival& arrival, Now now);
  void dispose(ReaderInstance& instance, const Arrival& arrival, Now now);
  void unregister(ReaderInstance& instance, const topics::EndpointId& writer, Timestamp source_timestamp,
                  Now now);
  void unregister_from_all(const topics::EndpointId& writer, Now now);
  bool hold_for_set(Writer& writer, topics::Sample& sample, Now now, bool& has_room);
  void release_sets(Writer& writer, Now now);
  void forget_if_gone(const topics::EndpointId& writer, Now now);
  void release_all_sets(Now now) {
    if (options_.presentation.coherent_access && !frozen_) release_waiting_sets(now);
  }
  void release_waiting_sets(Now now);
  void admit_set(Writer& writer, CoherentSets::Set set, bool whole, Now now);
  bool fits(const CoherentSets::Set& set) const;
  bool fits_ever(const CoherentSets::Set& set) const;
  bool reject(Writer& writer, const topics::Sample& sample, Room room);
  bool is_of_other_key(ReaderInstance& instance, const topics::Sample& sample) const {
    return options_.is_hash_ambiguous && has_other_key(instance, sample);
  }
  bool has_other_key(ReaderInstance& instance, const topics::Sample& sample) const;
  bool has_other_keys(const CoherentSets::Set& set);
  bool reject_key(const topics::Sample& sample);
  bool is_filtered(const topics::Sample& sample) const;
  bool is_out_of_order(const ReaderInstance& instance, const topics::EndpointId& writer,
                       const topics::Sample& sample) const;
  bool is_heard(ReaderInstance& instance, const topics::EndpointId& writer) const;
  bool outranks(const topics::EndpointId& a, const topics::EndpointId& b) const;
  const topics::EndpointId* owner(const ReaderInstance& instance) const;
  bool is_exclusive() const { return options_.qos.ownership.kind == qos::OwnershipKind::exclusive; }
  bool by_source() const {
    return options_.qos.destination_order.kind == qos::DestinationOrderKind::by_source_timestamp;
  }
  bool is_reliable() const { return options_.qos.reliability.kind == qos::ReliabilityKind::reliable; }
  bool holds_sets_for_group() const {
    return options_.presentation.access_scope == qos::PresentationAccessScope::group;
  }

  // Samples of instances for which there is no room: reader_cache_aside.cpp.
  bool is_aside(std::uint64_t instance) const { return !aside_.empty() && aside_counts_.contains(instance); }
  bool set_aside(const Arrival& arrival, Room room);
  bool has_aside(const topics::EndpointId& writer) const;
  void take_in_aside(Now now) {
    if (!aside_.empty() && (aside_for_samples_ || room_for(nullptr) != Room::no_instances)) offer_aside(now);
  }
  void offer_aside(Now now);

  // Storage: reader_cache_storage.cpp.
  Room room_for(const ReaderInstance* instance) const {
    return is_limited_ ? room_within_limits(instance) : Room::yes;
  }
  Room room_within_limits(const ReaderInstance* instance) const;
  ReaderInstance* find_instance(std::uint64_t key_hash) {
    if (latest_instance_ != nullptr && latest_instance_->key_hash() == key_hash) return latest_instance_;
    return look_up_instance(key_hash);
  }
  ReaderInstance* look_up_instance(std::uint64_t key_hash);
  Key key_of(const topics::Sample& sample) const;
  ReaderInstance& instance_for(const topics::Sample& sample);
  CachedSample& insert(ReaderInstance& instance, const CacheWriter& writer, Timestamp source_timestamp,
                       Timestamp reception_timestamp);
  bool make_history_room(ReaderInstance& instance, Timestamp source_timestamp) {
    return options_.qos.history.kind == qos::HistoryKind::keep_all || drop_oldest(instance, source_timestamp);
  }
  bool drop_oldest(ReaderInstance& instance, Timestamp source_timestamp);
  void insert_marker(ReaderInstance& instance, const topics::EndpointId& writer, Timestamp source_timestamp,
                     Now now);
  std::size_t oldest_with_data(const ReaderInstance& instance) const;
  void drop(ReaderInstance& instance, std::size_t index);
  void drop_all(ReaderInstance& instance);
  void let_go(ReaderInstance& instance, CachedSample* sample);
  void recycle(CachedSample* sample);
  void remember_filled(ReaderInstance& instance);
  void forget_if_done(ReaderInstance& instance) {
    if (instance.samples.empty()) forget_emptied(instance);
  }
  void forget_emptied(ReaderInstance& instance);
  std::int32_t stored_count() const { return valid_count_ + lent_count_; }

  /// For what happened just now.
  ReaderCacheNews& add_news() {
    if (!std::exchange(has_news_, true) && options_.on_news) options_.on_news();
    return news_;
  }

  // Time: reader_cache_time.cpp.
  void tend(ReaderInstance& instance, Now now);
  void release_deferred(ReaderInstance& instance, Now now);
  void check_deadline(ReaderInstance& instance, Now now);
  void expire(ReaderInstance& instance, Now now);
  void purge(ReaderInstance& instance, Now now);
  std::chrono::nanoseconds purge_time(const ReaderInstance& instance) const;
  void plan(ReaderInstance& instance, Now now) {
    if (instance.waits_for_time()) plan_wakeup(instance, now);
  }
  void plan_wakeup(ReaderInstance& instance, Now now);
  void arm_deadline(ReaderInstance& instance, Now now) {
    instance.deadline = after(now.monotonic, options_.qos.deadline.period);
  }

  // Reading: reader_cache_read.cpp.
  void collect(ReaderInstance& instance, const ReadSelector& selector, Now now,
               std::vector<Selected>& into) const;
  ReaderInstance* next_instance(const ReadSelector& selector, Now now);
  void candidates(const ReadSelector& selector, Now now, std::vector<Selected>& found);
  void arrange(const ReadSelector& selector, std::vector<Selected>& found) const;
  void fill_infos(std::vector<Selected>& found) const;
  void fill_infos_of_one(std::vector<Selected>& found) const;
  void hand_out(std::vector<Selected>& found, bool take);
  void lend(CachedSample& sample, ReaderInstance& instance);
  void take_whole_instance(ReaderInstance& instance, std::vector<Selected>& found);
  static bool is_seen(const CachedSample& sample, StateMask states, Now now) {
    const StateMask state = sample.read ? sample_state::read : sample_state::not_read;
    return (states & state) != 0 && !sample.hidden && sample.expires > now.realtime;
  }
  bool is_selected(const CachedSample& sample, const ReadSelector& selector, Now now) const;
  bool orders_all() const;
  bool gathers_all(const ReadSelector& selector) const;
  void arrange_by_query(const ReadSelector& selector, std::vector<Selected>& found) const;

  ReaderCacheOptions options_;
  bool is_limited_;  // by RESOURCE_LIMITS
  std::map<topics::EndpointId, Writer> writers_;
  std::map<std::uint64_t, ReaderInstance> instances_;
  RecentKeys forgotten_;
  std::deque<Aside> aside_;  // in the order of their arrival
  std::map<std::uint64_t, std::size_t> aside_counts_;
  std::size_t aside_bytes_ = 0;
  bool aside_for_samples_ = false;  // some wait for samples to be taken
  bool offers_aside_ = false;
  Writer* latest_writer_ = nullptr;            // who was looked up last, if it is still there
  ReaderInstance* latest_instance_ = nullptr;  // the same
  std::vector<ReaderInstance*> filled_;        // those that hold samples
  std::deque<CachedSample> storage_;
  std::vector<CachedSample*> free_;
  Wakeups wakeups_;
  ReaderCacheNews news_;
  bool has_news_ = false;  // on_news has been called
  std::uint64_t own_order_counter_ = 1;
  std::int32_t valid_count_ = 0;
  std::int32_t lent_count_ = 0;
  std::size_t loan_count_ = 0;
  Now now_;  // of the latest call
  bool frozen_ = false;
};

}  // namespace llamada::dcps
