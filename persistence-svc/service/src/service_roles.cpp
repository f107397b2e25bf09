// Which of a domain's services serves, and which follow it.
#include <fmt/core.h>

#include <algorithm>

#include "arrivals.hpp"
#include "feed.hpp"
#include "follower.hpp"
#include "intake.hpp"
#include "late_readers.hpp"
#include "llamada/service/service.hpp"
#include "replicas.hpp"
#include "topics.hpp"

namespace llamada::service {

using topics::ServiceRole;

namespace {

constexpr std::int64_t retry_join_period_ns = 1'000'000'000;
constexpr std::int64_t unserved_max_ns = 3'000'000'000;

}  // namespace

/// Of two that begin to serve at once, the later one gives way.
const topics::ParticipantInfo* Service::serving_one() const {
  const bool serves = role_ == ServiceRole::serves;
  for (const auto& [id, service] : services_)  // ascending
    if (topics::service_role(service) == ServiceRole::serves && (!serves || id < participant_.id()))
      return &service;
  return nullptr;
}

/// True if none of the others has more reason to serve.
bool Service::is_next() const {
  return std::none_of(services_.begin(), services_.end(), [this](const auto& each) {
    const ServiceRole other = topics::service_role(each.second);
    if (other != role_) return other < role_;
    return each.first < participant_.id();
  });
}

Status Service::decide() {
  const topics::ParticipantInfo* serving = serving_one();
  if (role_ == ServiceRole::serves) return serving == nullptr ? Status() : end_serving();
  if (serving == nullptr) {
    const std::int64_t now_ns = clock_.monotonic().count();
    if (joining_.unserved_since_ns == 0) joining_.unserved_since_ns = now_ns;
    const bool waits_no_longer =
        now_ns - joining_.unserved_since_ns >= unserved_max_ns;  // e.g. the next one is stopped
    if (follower_ && !follower_->has_heard_all() && !waits_no_longer) return {};
    end_following(false);
    return is_next() || waits_no_longer ? begin_serving() : Status();
  }
  joining_.unserved_since_ns = 0;
  if (follower_ && follower_->participant() != serving->id) end_following(true);
  if (follower_ && follower_->is_over()) end_following(true);
  if (!follower_) join(*serving);
  return {};
}

Status Service::take_role(ServiceRole role) {
  role_ = role;
  participant_.wake_self();
  return participant_.set_user_data(encode(role));
}

Status Service::begin_serving() {
  auto replicas = Replicas::open(participant_, *topics_, *feed_, clock_, options_.say);
  if (!replicas) return propagate(replicas);
  replicas_ = std::move(*replicas);
  if (joining_.lacks_of != 0)
    options_.say(
        fmt::format("serves from now on, although it was not aligned with the service of process {}: samples "
                    "that only that one has are missing until it comes back",
                    joining_.lacks_of));
  joining_.lacks_of = 0;
  arrivals_->begin();
  for (const auto& [id, writer] : known_writers_) new_writers_.push_back(writer);
  std::erase_if(known_writers_, [](const auto& each) { return each.second.has_died; });
  for (const auto& [id, reader] : known_readers_) late_readers_->add(reader);
  for (const auto& [id, reader] : link_readers_)
    if (reader.topic == link_down) replicas_->add(reader);
  return take_role(ServiceRole::serves);
}

Status Service::end_serving() {
  options_.say("another service of the domain serves; this one follows it");
  arrivals_->end();
  intakes_.clear();
  late_readers_->clear();
  replicas_.reset();
  new_writers_.clear();
  for (const auto& [key, keeper] : topics_->all()) keeper->all_gone();
  return take_role(ServiceRole::joins);
}

void Service::join(const topics::ParticipantInfo& serving) {
  if (clock_.monotonic().count() < joining_.retry_ns) return;
  joining_.lacks_of = serving.pid;
  for (const auto& [id, reader] : link_readers_) {
    if (id.participant != serving.id || reader.topic != link_up) continue;
    auto follower = Follower::open(participant_, reader, *topics_);
    if (follower) {
      follower_ = std::move(*follower);
      participant_.wake_self();
      return;
    }
    options_.say(
        fmt::format("cannot join the service of process {}: {}", serving.pid, follower.error().text()));
    joining_.retry_ns = clock_.monotonic().count() + retry_join_period_ns;
    return;
  }
}

void Service::end_following(bool tries_again) {
  if (!follower_) return;
  if (auto abandoned = follower_->abandon(); !abandoned)
    options_.say(fmt::format("the topics cannot be read again: {}", abandoned.error().text()));
  follower_.reset();
  if (!tries_again) return;
  joining_.retry_ns = clock_.monotonic().count() + retry_join_period_ns;
  if (role_ == ServiceRole::aligned) (void)take_role(ServiceRole::joins);
}

void Service::follow_round() {
  due_ns_ = INT64_MAX;
  if (!follower_) {
    due_ns_ = std::max(joining_.retry_ns, clock_.monotonic().count() + 1'000'000);
    return;
  }
  bool was_full = false;
  for (const auto& [key, keeper] : topics_->all()) was_full |= keeper->take_full();
  if (const Status worked = follower_->work(); !worked) {
    if (has_lost_batches(worked)) return;
    options_.say(fmt::format("no longer follows the service of process {}, and joins it again: {}",
                             follower_->pid(), worked.error().text()));
    end_following(serving_one() != nullptr);
    return;
  }
  if (was_full) participant_.wake_self();
  for (const topics::Guid& ended : follower_->take_ended())
    std::erase_if(known_writers_, [&](const auto& each) { return each.second.info.guid == ended; });
  if (!follower_->is_aligned()) return;
  for (const auto& [key, keeper] : topics_->all()) due_ns_ = std::min(due_ns_, keeper->keep_time());
  if (const std::string news = follower_->take_news(); !news.empty()) options_.say(news);
  joining_.lacks_of = 0;
  if (role_ != ServiceRole::aligned) (void)take_role(ServiceRole::aligned);
}

}  // namespace llamada::service
