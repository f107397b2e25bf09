#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "claims.hpp"
#include "kept_history.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/service/kept_topic.hpp"
#include "llamada/store/store.hpp"
#include "llamada/topics/sample.hpp"
#include "ranking.hpp"

namespace llamada::service {

/// The history of one topic, in its stream of a store. Each sample is known by its origin and kept once.
///
/// A sample lies in the store's open batch first, so nothing may be acknowledged before the batch is written.
/// After a crash the store has at least what was written, and the topic is as it was then.
///
/// Threads: the store's.
class TopicKeeper {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Finds the topic in the store, or declares it. Errors: the store's, parse_error (what lies there cannot
  /// be read).
  static Result<std::unique_ptr<TopicKeeper>> open(store::Store& store, const KeptTopic& topic,
                                                   const Clock& clock, Say say);

  const TopicKey& key() const { return topic_.key; }
  const KeptTopic& topic() const { return topic_; }
  store::StreamId stream() const { return stream_; }

  // Beside the keepers of other services.

  /// What is known of writers stays for good from now on: aligned_stream.
  void remember_all() { remembers_all_ = true; }
  /// Reads again what the store has, after others have changed it; the writers that are there stay so. All of
  /// the batch was written. Errors: as open().
  Status reload();
  /// All writers that are there have gone from this service's sight. What EXCLUSIVE ones claim stays.
  void all_gone();
  /// The writer writes the instance. False: not now, because the batch is full.
  bool writes(const topics::Guid& writer, std::uint64_t participant, std::uint64_t instance);
  using OnWritten =
      std::function<void(std::uint64_t instance, const topics::Guid& writer, std::uint64_t participant)>;
  void for_each_written(const OnWritten& on_written) const;

  // The writers that are matched.

  /// Also when its policies have changed. `participant`: of its EndpointId.
  void writer_came(const topics::Guid& writer, std::uint64_t participant, const qos::EndpointQos& qos);
  /// The writer no longer has its samples up to this one. What of that is not here is said.
  void writer_begins_behind(const topics::Guid& writer, std::uint32_t pid, std::uint64_t last) const;
  /// A writer that was deleted never comes again; one that `died` may, with what it has left behind.
  void writer_gone(const topics::Guid& writer, bool died);

  /// Keeps a sample of a writer that has come, if it is to be kept: with OWNERSHIP EXCLUSIVE only if it is
  /// heard. False: not now, because the batch is full (take_full() says so), a limit is reached, or the disk
  /// is full.
  bool take(const topics::Guid& writer, const topics::SampleHeader& header, std::span<const std::byte> data,
            bool heard);

  // OWNERSHIP EXCLUSIVE: topic_ownership.cpp.

  /// Whether no stronger writer claims the instance: the sample of this writer that comes next is heard.
  bool is_heard(const topics::Guid& writer, std::uint64_t instance) const;
  /// The writer is no longer alive (LIVELINESS): it claims nothing until its next sample.
  void writer_lapsed(const topics::Guid& writer);
  /// All samples were judged that were written before writers changed their strengths.
  void settle_strengths();
  /// The writers that claim instances and are not here: of an earlier service.
  std::vector<topics::Guid> absent_claimants() const;
  /// True if one of these has OWNERSHIP EXCLUSIVE.
  bool lacks_owner() const;
  /// The time of the newest sample of the writer that was taken, as far as it is known.
  std::int64_t last_word_ns(const topics::Guid& writer) const;
  /// No writer claims anything; another service says who does.
  void forget_claims();
  /// What late readers must know of writers that no longer have all samples, or are EXCLUSIVE: which samples
  /// of each were dealt with, and which instances each claims.
  struct Judged {
    topics::Guid writer;
    std::uint64_t through = 0;
    std::vector<std::uint64_t> claimed;
  };
  using IsWanted = std::function<bool(const topics::Guid& writer, const qos::EndpointQos& qos)>;
  std::vector<Judged> judged(const IsWanted& is_wanted) const;

  /// True if a sample was refused only because the batch was full, since this was asked last.
  bool take_full() { return std::exchange(was_full_, false); }
  bool was_full() const { return was_full_; }
  /// Adds to the batch what makes it whole: call it before Store::write(), until it succeeds. Errors:
  /// would_block (the batch is full: write it, and call again), and the store's.
  Status complete_batch();
  /// Does what is due by time. When to be called next, on the monotonic clock.
  std::int64_t keep_time();

  /// The samples from this number on, with those that have outlived LIFESPAN left out; the number is the
  /// topic's own. False ends it.
  using OnSample = std::function<bool(std::uint64_t number, const KeptSample&, const qos::EndpointQos& writer,
                                      std::span<const std::byte> data)>;
  Status read(std::uint64_t from, const OnSample& on_sample) const;
  /// The number of the last item.
  std::uint64_t last_number() const { return next_number_ - 1; }
  std::size_t sample_count() const { return history_.sample_count(); }

 private:
  struct Writer {
    topics::Guid guid;
    qos::EndpointQos qos;
    Seen seen;                      // the samples that were dealt with
    std::uint64_t record = 0;       // the item that says so; 0: there is none
    std::uint64_t record_seen = 0;  // what that item says
    std::uint64_t loaded = 0;       // the number of its last sample in the store as it was loaded
    std::uint64_t newest = 0;       // the item of its newest sample that is kept
    std::uint64_t newest_seen = 0;  // that sample's number at the writer
    std::size_t kept_count = 0;     // its samples and disposals that are kept
    bool is_here = false;
    bool is_deleted = false;
    bool begins = false;      // no sample has come since it is here
    bool has_changed = true;  // its policies, or the gaps, since the record
    Rank rank;
    std::int64_t last_word_ns = INT64_MIN;
  };

  TopicKeeper(store::Store& store, KeptTopic topic, const Clock& clock, Say say);
  Status load();
  Status load_item(const store::Item& item);
  std::uint32_t index_of(const topics::Guid& guid);
  bool skip(Writer& writer, std::uint64_t number);
  bool append(Writer& writer, KeptHistory::Entry entry, const topics::SampleHeader& header,
              std::span<const std::byte> data);
  static bool has_claims(const Writer& writer);
  bool claim(std::uint32_t writer, std::uint64_t instance, std::int64_t time_ns);
  void claims_end(Claims::Items items);
  void shows_claims(std::uint32_t writer);
  bool is_said_again(std::uint64_t instance, const KeptHistory::Entry& entry) const;
  Status load_claim(const store::Item& item);
  void show(std::uint32_t writer, const topics::SampleHeader& header);
  void count(std::uint64_t instance, const KeptHistory::Entry& entry, std::uint64_t number_at_writer);
  void dropped(const KeptHistory::Entry& entry);
  bool refuse(const Error& why);
  Status record(Writer& writer);
  Status drop_all(std::vector<std::uint64_t>& items);
  bool needs_record(const Writer& writer) const;
  void forget_if_over(Writer& writer);
  void adopt_policy(const qos::DurabilityService& policy);
  bool has_expired(std::uint32_t writer, std::int64_t source_timestamp_ns, std::int64_t now_ns) const;

  store::Store& store_;
  KeptTopic topic_;
  const Clock& clock_;
  Say say_;
  store::StreamId stream_ = 0;
  std::uint64_t next_number_ = 1;
  KeptHistory history_;
  std::vector<Writer> writers_;
  std::map<topics::Guid, std::uint32_t> indices_;
  std::vector<std::uint64_t> to_drop_;  // items, with the batch that is open
  Claims claims_;
  std::vector<std::uint64_t> ended_claims_;  // their items, which are dropped before records are written
  qos::DurabilityService loaded_policy_;
  bool has_policy_ = false;
  bool remembers_all_ = false;
  bool was_full_ = false;
  bool has_refused_ = false;
  bool has_disagreed_ = false;
  std::int64_t next_expiry_ns_ = 0;
};

}  // namespace llamada::service
