#include "llamada/service/service.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "arrivals.hpp"
#include "feed.hpp"
#include "follower.hpp"
#include "intake.hpp"
#include "late_readers.hpp"
#include "llamada/topics/matching.hpp"
#include "replicas.hpp"
#include "topics.hpp"

namespace llamada::service {
namespace {

constexpr std::int64_t retry_period_ns = 1'000'000'000;  // of a store that is in trouble

qos::DurabilityKind durability_of(const topics::EndpointInfo& endpoint) {
  return endpoint.writer ? endpoint.qos.datawriter.durability.kind : endpoint.qos.datareader.durability.kind;
}

/// True if it is an application's endpoint that a service cares for.
bool needs_service(const topics::EndpointInfo& endpoint) {
  return durability_of(endpoint) >= qos::DurabilityKind::transient && !endpoint.only_with && !endpoint.keeps;
}

bool is_of_link(const topics::EndpointInfo& endpoint) {
  return !endpoint.writer && (endpoint.topic == link_up || endpoint.topic == link_down);
}

}  // namespace

Service::Service(ServiceOptions options, topics::Transport& transport, const Clock& clock,
                 store::Store& store)
    : options_(std::move(options)),
      clock_(clock),
      store_(store),
      topics_(std::make_unique<Topics>(store, clock, options_.domain, options_.say)),
      feed_(std::make_unique<Feed>()),
      participant_(transport, clock, {options_.domain, options_.name, encode(role_), true}, this),
      arrivals_(std::make_unique<Arrivals>(*feed_, clock)),
      late_readers_(std::make_unique<LateReaders>(participant_, *topics_, clock, options_.say)) {}

Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::open(ServiceOptions options, topics::Transport& transport,
                                               const Clock& clock, store::Store& store) {
  std::unique_ptr<Service> service(new Service(std::move(options), transport, clock, store));
  if (auto loaded = service->topics_->load(); !loaded) return propagate(loaded);
  return service;
}

Status Service::work() {
  if (auto polled = participant_.poll(); !polled) return polled;
  if (!must_end_) return must_end_;
  if (auto decided = decide(); !decided) return decided;
  if (role_ != topics::ServiceRole::serves) {
    follow_round();
  } else if (auto served = serve_round(); !served) {
    return served;
  }
  gone_.clear();
  return {};
}

Status Service::serve_round() {
  drop_new_writers();
  // Before it is judged what others have written since.
  bool was_full = !feed_->is_frozen() && open_intakes();
  arrivals_->work(topics_->all(), [this](const topics::Guid& writer) { return is_here(writer); });
  for (const auto& [key, keeper] : topics_->all()) was_full |= keeper->take_full();
  const bool is_written = !feed_->is_frozen() && commit();
  if (!must_end_) return must_end_;
  drop_writers();
  for (const auto& intake : intakes_)
    if (is_gone(intake->writer())) intake->writer_has_gone();
  for (const topics::EndpointId& gone : gone_) replicas_->gone(gone);
  if (has_lost_batches(replicas_->work(intakes_))) return must_end_;
  const auto is_gone_here = [this](const topics::EndpointId& reader) { return is_gone(reader); };
  late_readers_->open(is_gone_here);
  if (!feed_->is_frozen())
    late_readers_->serve(is_written && !was_full && !feed_->refuses() && !arrivals_->is_behind());
  late_readers_->drop(is_gone_here);
  keep_time();
  if ((was_full && is_written) || arrivals_->wants_more()) participant_.wake_self();  // there is room again
  return {};
}

/// What has come since the last work() rang nobody, and a round may have asked for another one.
Status Service::wait(std::chrono::nanoseconds at_most) {
  const std::int64_t due_ns = due_ns_;
  const std::int64_t left_ns = std::max<std::int64_t>(due_ns - clock_.monotonic().count(), 0);
  const auto round = [&]() -> Result<bool> {
    if (auto worked = work(); !worked) return propagate(worked);
    return due_ns_ < due_ns;
  };
  return participant_.wait_after(round, std::min(at_most, std::chrono::nanoseconds(left_ns)));
}

// Who is there.

void Service::on_participant(const topics::ParticipantInfo& participant) {
  if (participant.keeps_topics && participant.id != participant_.id())
    services_[participant.id] = participant;
}

void Service::on_endpoint(const topics::EndpointInfo& endpoint) {
  if (endpoint.id.participant == participant_.id()) return;
  if (is_of_link(endpoint)) {
    link_readers_[endpoint.id] = endpoint;
    if (replicas_ && endpoint.topic == link_down) replicas_->add(endpoint);
  }
  if (!needs_service(endpoint)) return;
  const bool serves = role_ == topics::ServiceRole::serves;
  if (endpoint.writer) {
    known_writers_[endpoint.id] = {endpoint};
    if (serves) new_writers_.push_back({endpoint});
  } else {
    known_readers_[endpoint.id] = endpoint;
    if (serves) late_readers_->add(endpoint);
  }
}

/// Who follows reads what a writer has left when it has to serve before the serving one has read that.
void Service::on_endpoint_gone(const topics::EndpointId& endpoint) {
  gone_.push_back(endpoint);
  known_readers_.erase(endpoint);
  link_readers_.erase(endpoint);
  if (role_ == topics::ServiceRole::serves)
    known_writers_.erase(endpoint);
  else if (const auto found = known_writers_.find(endpoint); found != known_writers_.end())
    found->second.has_died = true;
}

void Service::on_left_behind(const topics::EndpointInfo& writer) {
  if (!needs_service(writer)) return;
  if (role_ == topics::ServiceRole::serves)
    new_writers_.push_back({writer, true});
  else
    known_writers_[writer.id] = {writer, true};
}

// Writers.

/// True: the batch is full, so that a writer has to wait for the next one.
bool Service::open_intakes() {
  const bool is_due = clock_.monotonic().count() >= retry_new_ns_;
  bool was_full = false;
  for (NewWriter& added : std::exchange(new_writers_, {})) {
    const bool is_known = std::any_of(intakes_.begin(), intakes_.end(),
                                      [&](const auto& each) { return each->writer() == added.info.id; });
    if (is_known) continue;
    if (added.waits_for_room && !is_due) {
      new_writers_.push_back(std::move(added));
      continue;
    }
    const Status opened = open_intake(added.info, added.has_died);
    if (opened) {
      participant_.wake_self();
      continue;
    }
    const Errc why = opened.error().code();
    const bool may_come =
        why == Errc::out_of_resources || why == Errc::system;  // a disk that is full, or fails
    if (why != Errc::would_block && !std::exchange(added.waits_for_room, may_come))
      options_.say(fmt::format("topic '{}': the writer of process {} is not kept{}: {}", added.info.topic,
                               added.info.pid, may_come ? " yet" : "", opened.error().text()));
    was_full = was_full || why == Errc::would_block;
    if (may_come) retry_new_ns_ = clock_.monotonic().count() + retry_period_ns;
    if (may_come || why == Errc::would_block) new_writers_.push_back(std::move(added));
  }
  return was_full;
}

/// One that has died comes again, with what it has left behind.
void Service::drop_new_writers() {
  std::erase_if(new_writers_,
                [this](const NewWriter& each) { return !each.has_died && is_gone(each.info.id); });
}

Status Service::open_intake(const topics::EndpointInfo& writer, bool has_died) {
  if (writer.guid.participant == 0) return failure(Errc::unsupported, "it is of an older release of Llamada");
  const TopicKey key{options_.domain, writer.topic, writer.type, writer.type_hash, writer.keyed};
  auto keeper = topics_->open({key, writer.type_description});
  if (!keeper) return propagate(keeper);
  auto intake = Intake::open(participant_, writer, **keeper, *feed_, *arrivals_);
  if (!intake) return propagate(intake);
  if (has_died) gone_.push_back(writer.id);  // once the next poll() has read what it has left
  intakes_.push_back(std::move(*intake));
  return {};
}

// What they have written.

/// True: all that was taken is in the store.
bool Service::commit() {
  if (clock_.monotonic().count() < retry_ns_) return false;
  const Status written = write();
  if (written)
    retry_ns_ = 0;
  else if (!has_lost_batches(written))
    say_trouble(written);
  return written.has_value();
}

bool Service::has_lost_batches(const Status& trouble) {
  if (trouble || trouble.error().code() != Errc::precondition_not_met) return false;
  must_end_ = failure(Errc::precondition_not_met,
                      "{}; start the service again: it then reads what was not acknowledged from the writers",
                      trouble.error().text());
  return true;
}

Status Service::write() {
  auto batch = topics_->write();
  if (!batch) return propagate(batch);
  const bool must_sync = std::any_of(intakes_.begin(), intakes_.end(), [](const auto& intake) {
    return intake->is_persistent() && intake->has_unacknowledged();
  });
  Status synced;
  if (must_sync) synced = store_.sync(*batch);
  if (feed_->is_active()) {
    if (synced) pass_on();
    return synced;
  }
  for (const auto& intake : intakes_)
    if (intake->has_unacknowledged() && (synced || !intake->is_persistent())) intake->acknowledge();
  return synced;
}

/// To the services that follow: one batch at a time, which is acknowledged once all of them have it.
void Service::pass_on() {
  if (!replicas_->have_all()) return;
  for (const auto& intake : intakes_) intake->acknowledge_offered();
  if (feed_->refuses()) participant_.wake_self();  // there is room again
  replicas_->publish(feed_->take());
  for (const auto& intake : intakes_) intake->offer();
}

/// Once, until it is over. A disk that fails is not asked again and again.
void Service::say_trouble(const Status& trouble) {
  if (retry_ns_ == 0)
    options_.say(fmt::format("the store does not take samples: {}; nothing is acknowledged until it does",
                             trouble.error().text()));
  retry_ns_ = clock_.monotonic().count() + retry_period_ns;
}

// What ends.

/// Each one has had a poll() since its writer has gone, in which it has read what was left.
void Service::drop_writers() {
  std::erase_if(intakes_, [this](const auto& intake) {
    if (!intake->is_over()) return false;
    arrivals_->forget(*intake);
    return true;
  });
}

bool Service::is_here(const topics::Guid& writer) const {
  return std::any_of(intakes_.begin(), intakes_.end(),
                     [&](const auto& each) { return each->info().guid == writer; });
}

bool Service::is_gone(const topics::EndpointId& endpoint) const {
  return std::find(gone_.begin(), gone_.end(), endpoint) != gone_.end();
}

void Service::keep_time() {
  due_ns_ = arrivals_->due_ns();
  if (!feed_->is_frozen()) {
    due_ns_ = std::min(due_ns_, late_readers_->due_ns());
    for (const auto& [key, keeper] : topics_->all()) due_ns_ = std::min(due_ns_, keeper->keep_time());
  }
  if (retry_ns_ != 0) due_ns_ = std::min(due_ns_, retry_ns_);
  if (!new_writers_.empty()) due_ns_ = std::min(due_ns_, retry_new_ns_);
}

ServiceFigures Service::figures() const {
  ServiceFigures figures;
  figures.served_readers = late_readers_->served_count();
  figures.served_samples = late_readers_->sample_count();
  figures.topics = topics_->all().size();
  figures.samples = topics_->sample_count();
  figures.writers = intakes_.size();
  figures.role = role_;
  figures.followers = replicas_ ? replicas_->follower_count() : 0;
  return figures;
}

}  // namespace llamada::service
