#include "topic_tap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "domain.hpp"

namespace llamada::tools {
namespace {

const qos::Partition all_partitions{{"*"}};

void warn_unseen(const topics::EndpointInfo& writer, const std::string& participant, const std::string& why) {
  fmt::print(stderr, "llamada: writer {} of {} on the topic '{}' is left out: {}\n", to_string(writer.id),
             participant, writer.topic, why);
}

}  // namespace

/// The reader of one kind. It also matches writers of other kinds that offer more; these have a reader of
/// their own.
class TopicTap::KindReader final : public topics::ReaderEvents {
 public:
  KindReader(TopicTap& tap, Kind kind) : tap_(tap), kind_(std::move(kind)) {}

  Status open() {
    topics::EndpointSpec spec;
    spec.topic = kind_.topic;
    spec.type = kind_.type;
    spec.keyed = kind_.keyed;
    spec.qos = request();
    auto reader = tap_.participant_.create_reader(spec, *this);
    if (!reader) return propagate(reader);
    reader_ = std::move(*reader);
    return {};
  }

  void on_matched(const topics::EndpointInfo& writer) override {
    if (tap_.kind_of(writer) != kind_) return;
    mine_.push_back(writer.id);
    tap_.events_.on_writer(writer, tap_.participant_of(writer.id));
  }
  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample) override {
    const topics::Sample taken = std::move(sample);
    if (is_mine(writer)) tap_.events_.on_sample(writer, taken);
    return true;
  }
  void on_qos_changed(const topics::EndpointInfo& writer) override {
    if (is_mine(writer.id)) tap_.events_.on_writer_changed(writer);
  }
  void on_unmatched(const topics::EndpointId& writer, bool died) override {
    if (std::erase(mine_, writer) > 0) tap_.events_.on_writer_gone(writer, died);
  }
  void on_liveliness_changed(const topics::EndpointId&, bool) override {}
  void on_incompatible(const topics::EndpointInfo& writer,
                       const std::vector<qos::Incompatibility>& why) override {
    if (tap_.kind_of(writer) == kind_) warn_unseen(writer, tap_.participant_of(writer.id), to_string(why));
  }
  void on_samples_lost(const topics::EndpointId& writer, std::uint64_t count) override {
    if (is_mine(writer)) tap_.events_.on_samples_lost(writer, count);
  }

 private:
  bool is_mine(const topics::EndpointId& writer) const {
    return std::find(mine_.begin(), mine_.end(), writer) != mine_.end();
  }

  /// Of all that is requested, the least that the kind allows.
  qos::EndpointQos request() const {
    qos::DataReaderQos reader;
    reader.ownership.kind = kind_.ownership;
    reader.reliability.kind = kind_.reliability;
    reader.durability.kind = kind_.durability;
    reader.latency_budget.duration = qos::duration_infinite;
    if (kind_.reliability == qos::ReliabilityKind::reliable) reader.history.kind = qos::HistoryKind::keep_all;
    qos::SubscriberQos subscriber;
    subscriber.partition = all_partitions;
    return qos::endpoint_qos(reader, subscriber);
  }

  TopicTap& tap_;
  const Kind kind_;
  std::vector<topics::EndpointId> mine_;
  std::unique_ptr<topics::ReaderEndpoint> reader_;
};

TopicTap::TopicTap(TapOptions options, topics::Transport& transport, const Clock& clock, TapEvents& events)
    : options_(std::move(options)),
      events_(events),
      participant_(transport, clock, {options_.domain, options_.name, {}}, this) {}

TopicTap::~TopicTap() = default;

Status TopicTap::poll() {
  if (auto status = participant_.poll(); !status) return status;
  for (const Kind& kind : std::exchange(wanted_, {}))
    if (auto status = open_reader(kind); !status) return status;
  return {};
}

Status TopicTap::open_reader(const Kind& kind) {
  const auto [place, is_new] = readers_.try_emplace(kind);
  if (!is_new) return {};
  place->second = std::make_unique<KindReader>(*this, kind);
  participant_.wake_self();
  return place->second->open();
}

/// What has come since the last poll() rang nobody.
Status TopicTap::wait(std::chrono::nanoseconds at_most) {
  const auto round = [&]() -> Result<bool> {
    if (auto polled = poll(); !polled) return propagate(polled);
    return false;
  };
  return participant_.wait_after(round, at_most);
}

std::string TopicTap::participant_of(const topics::EndpointId& writer) const {
  const auto found = names_.find(writer.participant);
  return found == names_.end() ? "?" : found->second;
}

TopicTap::Kind TopicTap::kind_of(const topics::EndpointInfo& writer) const {
  Kind kind{writer.topic, writer.type, writer.keyed, writer.qos.datawriter.ownership.kind};
  if (options_.as_offered) {
    kind.reliability = writer.qos.datawriter.reliability.kind;
    kind.durability = writer.qos.datawriter.durability.kind;
  } else if (options_.with_history) {
    kind.durability = qos::DurabilityKind::transient_local;
  }
  return kind;
}

bool TopicTap::is_wanted(const std::string& topic) const {
  return options_.topics.empty() ||
         std::find(options_.topics.begin(), options_.topics.end(), topic) != options_.topics.end();
}

void TopicTap::on_participant(const topics::ParticipantInfo& participant) {
  names_[participant.id] =
      fmt::format("{} (pid {})", participant.name.empty() ? "?" : participant.name, participant.pid);
}

void TopicTap::on_endpoint(const topics::EndpointInfo& endpoint) {
  if (!endpoint.writer || !is_wanted(endpoint.topic)) return;
  wanted_.push_back(kind_of(endpoint));
  if (!qos::partitions_match(partition_of(endpoint.qos), all_partitions))
    warn_unseen(endpoint, participant_of(endpoint.id),
                fmt::format("its partition is a pattern ({}), which no reader of all partitions matches",
                            to_string(partition_of(endpoint.qos))));
}

void TopicTap::on_endpoint_changed(const topics::EndpointInfo& endpoint) { on_endpoint(endpoint); }

}  // namespace llamada::tools
