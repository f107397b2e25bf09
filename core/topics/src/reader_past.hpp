#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "llamada/topics/origin.hpp"

namespace llamada::topics::detail {

/// A reader with DURABILITY TRANSIENT or PERSISTENT has one, for the services that keep its topic.
/// Each gives it all that it has by a writer that only this reader matches. Until then the reader holds the
/// other writers, so that the past comes first. It knows each sample by its origin, so that none comes twice.
///
/// Pure: times are nanoseconds of the monotonic clock and come in with the calls.
class ReaderPast {
 public:
  explicit ReaderPast(std::string topic) : topic_(std::move(topic)) {}

  // The samples: each origin's come in order, so a number says what came.

  bool has(const Origin& origin) const {
    const auto found = through_.find(origin.writer);
    return found != through_.end() && origin.number <= found->second;
  }
  void add(const Origin& origin) { through_[origin.writer] = origin.number; }
  /// The number of the writer's last sample that is known.
  std::uint64_t through(const Guid& writer) const {
    const auto found = through_.find(writer);
    return found == through_.end() ? 0 : found->second;
  }
  /// The reader reads this writer, which it does not hold. So all that it has written comes from itself: a
  /// service's sample of it may have others before it that the reader has not come to.
  void follow(const Guid& writer) { followed_.insert(writer); }
  /// There is nothing more to read of it.
  void unfollow(const Guid& writer) { followed_.erase(writer); }
  bool follows(const Guid& writer) const { return followed_.contains(writer); }
  /// A service has judged the samples of the origin's writer up to this one. Only of writers that are held:
  /// what others have written comes from them.
  void add_judged(const Origin& origin) {
    if (holds_ && !follows(origin.writer))
      through_[origin.writer] = std::max(through_[origin.writer], origin.number);
  }
  void add_claim(const Guid& writer, std::uint64_t instance) {
    if (holds_ && !follows(writer)) claims_[writer].push_back(instance);
  }
  /// The instances that the writer claims, as a service says; once.
  std::vector<std::uint64_t> take_claims(const Guid& writer) {
    auto claims = claims_.extract(writer);
    return claims ? std::move(claims.mapped()) : std::vector<std::uint64_t>();
  }

  // The services, by the ids of their participants.

  /// These serve now, and others may stand by to take their place. The first call decides whether writers
  /// are held at first.
  void look(const std::vector<std::uint64_t>& services, bool has_standby, std::int64_t now_ns);
  /// The service's writer for this reader has come, or has given it something.
  void progressed(std::uint64_t service, std::int64_t now_ns);
  /// The service's writer has said then that more will come.
  void promised(std::uint64_t service, std::int64_t time_ns);
  /// The service has given all that it has.
  void ended(std::uint64_t service, std::int64_t now_ns);
  /// A writer no longer has samples that the reader lacks, and that a service may give. True: it is to be
  /// held, as all that come next. False: no service will give anything.
  bool awaits_more(std::int64_t now_ns);
  /// Gives up on services that do not answer, and says so. When to be called next. An application that does
  /// not look for a while does not wait meanwhile.
  std::int64_t keep_time(std::int64_t now_ns);

  /// True while the other writers wait.
  bool holds() const { return holds_; }
  /// True until all services have given what they have.
  bool awaits() const;
  /// Until when a service's writer stays matched at most, so that those of living writers show first which
  /// instances they write.
  std::int64_t lingers_until_ns() const { return released_ns_ + linger_ns; }

 private:
  static constexpr std::int64_t patience_ns = 10'000'000'000;
  static constexpr std::int64_t look_period_ns = 1'000'000'000;
  static constexpr std::int64_t looked_for_max_ns = 2 * look_period_ns;
  static constexpr std::int64_t linger_ns = 1'000'000'000;
  static constexpr std::int64_t never_ns = INT64_MAX;

  struct Service {
    bool is_served = false;
    std::int64_t progressed_ns = 0;
  };
  void look_again(std::int64_t now_ns);
  void release_if_over(std::int64_t now_ns);
  void give_up(std::int64_t now_ns);

  std::string topic_;
  std::map<Guid, std::uint64_t> through_;  // the last number of each origin
  std::map<Guid, std::vector<std::uint64_t>> claims_;
  std::set<Guid> followed_;
  std::map<std::uint64_t, Service> services_;
  std::int64_t lost_ns_ = never_ns;  // since when the next service is awaited, which gives what is missing
  std::int64_t looked_ns_ = never_ns;
  bool has_looked_ = false;
  bool is_decided_ = false;  // a service has given what it has, or nobody waits for one any more
  bool holds_ = false;
  std::int64_t released_ns_ = -linger_ns;
};

}  // namespace llamada::topics::detail
