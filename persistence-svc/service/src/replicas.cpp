#include "replicas.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "spec_only_with.hpp"

namespace llamada::service {

namespace {

/// Whether the first message of a writer is a join to this release.
Status check_join(std::span<const std::byte> message) {
  auto record = decode_link(message);
  if (!record) return propagate(record);
  if (record->kind == LinkKind::join && record->number == link_version) return {};
  return failure(Errc::unsupported, "it is of another release of Llamada");
}

}  // namespace

Result<std::unique_ptr<Replicas>> Replicas::open(topics::Participant& participant, Topics& topics, Feed& feed,
                                                 const Clock& clock, TopicKeeper::Say say) {
  std::unique_ptr<Replicas> replicas(new Replicas(participant, topics, feed, clock, std::move(say)));
  topics::EndpointSpec spec;
  spec.topic = link_up;
  spec.type = link_type;
  spec.qos = link_request();
  auto reader = participant.create_reader(spec, *replicas);
  if (!reader) return propagate(reader);
  replicas->reader_ = std::move(*reader);
  return replicas;
}

Replicas::~Replicas() {
  for (const auto& replica : replicas_) (void)replica->abandon();
  feed_.freeze(false);
  feed_.set_active(false);
}

void Replicas::add(const topics::EndpointInfo& reader) { new_readers_.push_back(reader); }

void Replicas::gone(const topics::EndpointId& reader) {
  std::erase_if(new_readers_, [&](const auto& each) { return each.id == reader; });
  for (const auto& replica : replicas_)
    if (replica->reader() == reader) replica->has_gone();
}

bool Replicas::on_sample(const topics::EndpointId& writer, topics::Sample&& sample) {
  const auto told = std::find_if(replicas_.begin(), replicas_.end(),
                                 [&](const auto& each) { return each->has_joined_by(writer); });
  if (told == replicas_.end())
    joins_.try_emplace(writer, check_join(sample.data()));  // or more of a former attempt
  else if (!(*told)->take(sample.data()))
    return false;
  const topics::Sample taken = std::move(sample);
  return true;
}

void Replicas::open_new() {
  for (const topics::EndpointInfo& reader : std::exchange(new_readers_, {})) {
    for (const auto& replica : replicas_)
      if (replica->reader().participant == reader.id.participant) replica->has_gone();
    auto replica = Replica::open(participant_, reader, topics_, feed_, clock_);
    if (replica)
      replicas_.push_back(std::move(*replica));
    else
      say_(fmt::format("the service of process {} cannot join: {}", reader.pid, replica.error().text()));
    participant_.wake_self();
  }
}

/// One at a time. A service makes its reader before its writer: older ones are of a former attempt.
void Replicas::join(Replica& replica) {
  const bool may_join =
      std::none_of(replicas_.begin(), replicas_.end(), [](const auto& each) { return each->compares(); });
  if (!may_join || !replica.waits()) return;
  for (auto joined = joins_.upper_bound(replica.reader());
       joined != joins_.end() && joined->first.participant == replica.reader().participant; ++joined)
    replica.join(joined->first, joined->second);
}

Status Replicas::work(const std::vector<std::unique_ptr<Intake>>& writers) {
  const bool was_frozen = feed_.is_frozen();
  // Those that have gone make room for the next one, and what they began in the store is ended first.
  std::erase_if(replicas_, [this](const auto& replica) {
    if (replica->is_gone()) end(*replica, {});
    return replica->is_gone();
  });
  open_new();
  const Replica* changed = nullptr;
  Status lost;
  for (const auto& replica : replicas_) {
    join(*replica);
    if (const Status worked = replica->work(writers); !worked) {
      if (worked.error().code() == Errc::precondition_not_met) lost = worked;
      end(*replica, worked);
      replica->has_gone();
    }
    if (replica->takes_change()) changed = replica.get();
    if (const std::string news = replica->take_news(); !news.empty()) say_(news);
  }
  // Those that follow already lack what this one has brought: they join again.
  for (const auto& replica : replicas_)
    if (changed != nullptr && replica.get() != changed && replica->follows()) replica->has_gone();
  std::erase_if(replicas_, [](const auto& replica) { return replica->is_gone(); });
  feed_.freeze(
      std::any_of(replicas_.begin(), replicas_.end(), [](const auto& each) { return each->compares(); }));
  feed_.set_active(follower_count() > 0);
  if (was_frozen && !feed_.is_frozen()) participant_.wake_self();
  return lost;
}

void Replicas::end(Replica& replica, const Status& why) {
  if (!why)
    say_(fmt::format("goes on without the service of process {}, which has to join again: {}", replica.pid(),
                     why.error().text()));
  if (auto abandoned = replica.abandon(); !abandoned)
    say_(fmt::format("the topics cannot be read again: {}", abandoned.error().text()));
}

bool Replicas::have_all() const {
  return std::all_of(replicas_.begin(), replicas_.end(),
                     [](const auto& each) { return !each->follows() || each->has_all(); });
}

void Replicas::publish(const Feed::Messages& messages) {
  for (const auto& replica : replicas_)
    if (replica->follows()) replica->publish(messages);
}

std::size_t Replicas::follower_count() const {
  return static_cast<std::size_t>(
      std::count_if(replicas_.begin(), replicas_.end(), [](const auto& each) { return each->follows(); }));
}

}  // namespace llamada::service
