#include "topics.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace llamada::service {

Status Topics::load() {
  for (const store::StreamInfo& stream : store_.streams()) {
    if (stream.name == aligned_stream) {
      if (auto remembered = remember_all(); !remembered) return remembered;
      continue;
    }
    auto topic = decode_topic(stream.description);
    if (!topic) return tl::unexpected<Error>(topic.error().within(fmt::format("stream '{}'", stream.name)));
    if (topic->key.domain != domain_) continue;
    if (auto opened = open(*topic); !opened) return propagate(opened);
  }
  return {};
}

Result<TopicKeeper*> Topics::open(const KeptTopic& topic) {
  if (const auto found = keepers_.find(topic.key); found != keepers_.end()) return found->second.get();
  auto keeper = TopicKeeper::open(store_, topic, clock_, say_);
  if (!keeper) return propagate(keeper);
  if (remembers_all_) (*keeper)->remember_all();
  return keepers_.emplace(topic.key, std::move(*keeper)).first->second.get();
}

Status Topics::remember_all() {
  if (auto declared = store_.stream(aligned_stream, {}); !declared) return propagate(declared);
  remembers_all_ = true;
  for (const auto& [key, keeper] : keepers_) keeper->remember_all();
  return {};
}

Result<store::BatchNumber> Topics::write() {
  for (auto& [key, keeper] : keepers_) {
    for (Status completed = keeper->complete_batch(); !completed; completed = keeper->complete_batch()) {
      if (completed.error().code() != Errc::would_block) return propagate(completed);
      if (auto written = store_.write(); !written) return propagate(written);
    }
  }
  return store_.write();
}

Result<std::vector<KeptState>> Topics::states() {
  if (auto written = write(); !written) return propagate(written);
  std::vector<KeptState> states;
  for (const store::StreamInfo& stream : store_.streams()) {
    const bool is_ours = std::any_of(keepers_.begin(), keepers_.end(),
                                     [&](const auto& each) { return each.second->stream() == stream.id; });
    if (!is_ours) continue;
    auto state = read_state(store_, stream);
    if (!state) return propagate(state);
    states.push_back(std::move(*state));
  }
  return states;
}

Result<KeptState> Topics::state_of(const KeptTopic& topic) {
  auto keeper = open(topic);
  if (!keeper) return propagate(keeper);
  if (auto written = store_.write(); !written) return propagate(written);
  for (const store::StreamInfo& stream : store_.streams())
    if (stream.id == (*keeper)->stream()) return read_state(store_, stream);
  return failure(Errc::not_found, "topic '{}' is not in the store", topic.key.topic);
}

std::size_t Topics::sample_count() const {
  std::size_t count = 0;
  for (const auto& [key, keeper] : keepers_) count += keeper->sample_count();
  return count;
}

}  // namespace llamada::service
