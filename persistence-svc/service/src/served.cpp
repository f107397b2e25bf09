#include "served.hpp"

#include <algorithm>
#include <iterator>

#include "spec_only_with.hpp"

namespace llamada::service {
namespace {

/// A writer that offers what the reader requests.
qos::EndpointQos offer_for(const qos::EndpointQos& request) {
  const qos::DataReaderQos& reader = request.datareader;
  qos::DataWriterQos writer;
  writer.durability.kind = qos::DurabilityKind::persistent;
  writer.reliability.kind = qos::ReliabilityKind::reliable;
  writer.history.kind = qos::HistoryKind::keep_all;
  writer.ownership.kind = reader.ownership.kind;
  writer.ownership_strength.value = INT32_MIN;  // the writers themselves are heard first
  writer.deadline = reader.deadline;
  writer.latency_budget = reader.latency_budget;
  writer.liveliness = reader.liveliness;
  writer.destination_order = reader.destination_order;
  qos::PublisherQos publisher;
  publisher.presentation = request.subscriber.presentation;
  return qos::endpoint_qos(writer, publisher);
}

}  // namespace

Result<std::unique_ptr<Served>> Served::open(topics::Participant& participant,
                                             const topics::EndpointInfo& reader,
                                             std::vector<const TopicKeeper*> keepers) {
  std::unique_ptr<Served> served(new Served(reader, std::move(keepers)));
  topics::EndpointSpec spec = spec_only_with(reader);
  spec.qos = offer_for(reader.qos);
  auto writer = participant.create_writer(spec, *served);
  if (!writer) return propagate(writer);
  served->writer_ = std::move(*writer);
  return served;
}

Status Served::work(bool is_complete) {
  if (!is_matched_ || is_over_) return {};
  Status given = give(is_complete);
  lacks_room_.reset();
  if (!given && given.error().code() == Errc::out_of_resources) {
    lacks_room_ = std::move(given.error());
    writer_->assert_liveliness();
    return {};
  }
  if (!given) give_up();
  return given;
}

Status Served::give(bool is_complete) {
  for (; keeper_ < keepers_.size(); ++keeper_, next_number_ = 1) {
    auto fed = feed(*keepers_[keeper_]);
    if (!fed) return propagate(fed);
    if (!*fed || !is_complete) return {};
    note_judged(*keepers_[keeper_]);
  }
  auto told = tell_judged();
  if (!told) return propagate(told);
  if (!*told) return {};
  if (!has_said_all_) {
    auto said = say(topics::Origin::end_of_past(), 0, false);
    if (!said) return propagate(said);
    if (!*said) return {};
    has_said_all_ = true;
  }
  is_over_ = writer_->all_acknowledged();
  return {};
}

/// All that was dealt with has been given: what the reader finds with a writer itself is not to be heard.
void Served::note_judged(const TopicKeeper& keeper) {
  auto judged = keeper.judged(
      [this](const topics::Guid& writer, const qos::EndpointQos& offer) { return is_wanted(writer, offer); });
  std::move(judged.begin(), judged.end(), std::back_inserter(judged_));
}

/// False: the writer is at its limit.
Result<bool> Served::tell_judged() {
  for (; !judged_.empty(); judged_.pop_front()) {
    auto& [writer, through, claimed] = judged_.front();
    for (; !claimed.empty(); claimed.pop_back())
      if (auto said = say({writer, through}, claimed.back(), true); !said || !*said) return said;
    if (auto said = say({writer, through}, 0, false); !said || !*said) return said;
  }
  return true;
}

/// Without its end the reader takes that of the writer for that of the service, and waits for the next one.
/// False: the writer is at its limit.
Result<bool> Served::say(const topics::Origin& origin, std::uint64_t instance, bool claims) {
  topics::SampleHeader header;
  header.kind = topics::ChangeKind::coherent_end;
  header.instance = instance;
  header.coherent_set = claims ? topics::origin_claims : topics::origin_known;
  auto published = writer_->publish({}, header, origin);
  if (published) return true;
  if (published.error().code() == Errc::would_block) return false;
  return propagate(published);
}

/// False: the writer is at its limit, until the reader has taken more.
Result<bool> Served::feed(const TopicKeeper& keeper) {
  Status published;
  auto read = keeper.read(next_number_, [&](std::uint64_t number, const KeptSample& sample,
                                            const qos::EndpointQos& offer, std::span<const std::byte> data) {
    if (is_wanted(sample.origin.writer, offer)) published = publish(sample, data);
    if (published) next_number_ = number + 1;
    return published.has_value();
  });
  if (!read) return propagate(read);
  if (published) return true;
  if (published.error().code() == Errc::would_block) return false;
  return propagate(published);
}

Status Served::publish(const KeptSample& sample, std::span<const std::byte> data) {
  topics::SampleHeader header;
  header.source_timestamp_ns = sample.source_timestamp_ns;
  header.instance = sample.instance;
  header.kind = sample.kind;
  auto published = writer_->publish(data, header, sample.origin);
  if (!published) return propagate(published);
  ++sample_count_;
  return {};
}

/// True if the reader would have matched the writer of the sample.
bool Served::is_wanted(const topics::Guid& writer, const qos::EndpointQos& offer) {
  const auto [place, is_new] = wanted_.try_emplace(writer, false);
  if (is_new)
    place->second = qos::partitions_match(partition_of(offer), partition_of(reader_.qos)) &&
                    qos::incompatibilities(offer, reader_.qos).empty();
  return place->second;
}

}  // namespace llamada::service
