#include "intake.hpp"

#include "spec_only_with.hpp"

namespace llamada::service {
namespace {

/// A reader that this writer matches whatever it offers, and that asks for all that it has.
qos::EndpointQos request_for(const qos::EndpointQos& offer) {
  const qos::DataWriterQos& writer = offer.datawriter;
  qos::DataReaderQos reader;
  reader.ownership.kind = writer.ownership.kind;
  reader.reliability.kind = writer.reliability.kind;
  reader.durability.kind = writer.durability.kind;
  reader.latency_budget.duration = qos::duration_infinite;
  reader.history.kind = qos::HistoryKind::keep_all;
  return qos::endpoint_qos(reader, qos::SubscriberQos{});
}

}  // namespace

Result<std::unique_ptr<Intake>> Intake::open(topics::Participant& participant,
                                             const topics::EndpointInfo& writer, TopicKeeper& keeper,
                                             Feed& feed, Arrivals& arrivals) {
  std::unique_ptr<Intake> intake(new Intake(writer, keeper, feed, arrivals));
  topics::EndpointSpec spec = spec_only_with(writer);
  spec.qos = request_for(writer.qos);
  spec.keeps = true;
  auto reader = participant.create_reader(spec, *intake);
  if (!reader) return propagate(reader);
  intake->reader_ = std::move(*reader);
  if (is_exclusive(writer.qos)) arrivals.expect(*intake);
  return intake;
}

void Intake::acknowledge_offered() {
  if (acknowledged_ == offered_) return;
  acknowledged_ = offered_;
  if (!has_ended_) reader_->acknowledge(writer_.id, offered_);
}

bool Intake::on_sample(const topics::EndpointId&, topics::Sample&& sample) {
  if (is_exclusive(writer_.qos)) return arrivals_.add(*this, std::move(sample));
  if (feed_.refuses() || !take(sample)) return false;
  const topics::Sample taken = std::move(sample);
  return true;
}

bool Intake::take(const topics::Sample& sample) {
  const topics::SampleHeader& header = sample.header();
  const bool is_heard = !is_exclusive(writer_.qos) || keeper_.is_heard(writer_.guid, header.instance);
  if (!keeper_.take(writer_.guid, header, sample.data(), is_heard)) return false;
  feed_.took(keeper_, writer_.guid, header, sample.data(), is_heard);
  taken_ = header.sequence_number;
  return true;
}

void Intake::on_matched(const topics::EndpointInfo& writer) {
  is_matched_ = true;
  on_qos_changed(writer);
}

void Intake::on_qos_changed(const topics::EndpointInfo& writer) {
  writer_ = writer;
  keeper_.writer_came(writer_.guid, writer_.id.participant, writer_.qos);
  feed_.came(keeper_, writer_.guid, writer_.id.participant, writer_.qos);
}

/// Of a RELIABLE KEEP_ALL writer these are its first ones, which it has given to a service.
void Intake::on_samples_lost(const topics::EndpointId&, std::uint64_t count) {
  const qos::DataWriterQos& offer = writer_.qos.datawriter;
  if (offer.reliability.kind == qos::ReliabilityKind::reliable &&
      offer.history.kind == qos::HistoryKind::keep_all)
    keeper_.writer_begins_behind(writer_.guid, writer_.pid, count);
}

void Intake::on_unmatched(const topics::EndpointId&, bool died) {
  is_exclusive(writer_.qos) ? arrivals_.gone(*this, died) : end(died);
}

void Intake::end(bool died) {
  keeper_.writer_gone(writer_.guid, died);
  feed_.gone(keeper_, writer_.guid, died);
  has_ended_ = true;
}

}  // namespace llamada::service
