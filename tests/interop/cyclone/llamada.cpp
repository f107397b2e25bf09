#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "llamada/dcps/domain_participant.hpp"
#include "llamada/dcps/publisher.hpp"
#include "llamada/dcps/subscriber.hpp"
#include "llamada/topics/loopback.hpp"
#include "llamada/types/typed_support.hpp"
#include "script.hpp"

namespace llamada::interop {

LLAMADA_TYPE(Cell, LLAMADA_KEY(key), value);

namespace {

using namespace llamada::dcps;

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error("Llamada: " + result.error().text());
  return std::move(*result);
}

void check(const Status& status, const Step& step) {
  if (!status) throw std::runtime_error("Llamada: " + to_string(step) + ": " + status.error().text());
}

qos::DataWriterQos writer_qos(const Configuration& configuration, std::size_t writer) {
  qos::DataWriterQos qos;
  qos.reliability.kind = qos::ReliabilityKind::reliable;
  qos.history.kind = configuration.keep_all ? qos::HistoryKind::keep_all : qos::HistoryKind::keep_last;
  qos.history.depth = configuration.depth;
  if (configuration.by_source) qos.destination_order.kind = qos::DestinationOrderKind::by_source_timestamp;
  if (configuration.exclusive) qos.ownership.kind = qos::OwnershipKind::exclusive;
  qos.ownership_strength.value = static_cast<std::int32_t>(writer);
  qos.writer_data_lifecycle.autodispose_unregistered_instances = configuration.autodispose;
  return qos;
}

qos::DataReaderQos reader_qos(const Configuration& configuration) {
  qos::DataReaderQos qos;
  if (configuration.reliable) qos.reliability.kind = qos::ReliabilityKind::reliable;
  qos.history.kind = configuration.keep_all ? qos::HistoryKind::keep_all : qos::HistoryKind::keep_last;
  qos.history.depth = configuration.depth;
  if (configuration.by_source) qos.destination_order.kind = qos::DestinationOrderKind::by_source_timestamp;
  if (configuration.exclusive) qos.ownership.kind = qos::OwnershipKind::exclusive;
  const auto delay = [](bool at_once) {
    return at_once ? qos::Duration(0) : qos::Duration(qos::duration_infinite);
  };
  qos.reader_data_lifecycle.autopurge_disposed_samples_delay = delay(configuration.purge_disposed);
  qos.reader_data_lifecycle.autopurge_nowriter_samples_delay = delay(configuration.purge_nowriter);
  qos.resource_limits = {configuration.max_samples, configuration.max_instances,
                         configuration.max_samples_per_instance};
  return qos;
}

/// A domain of this process, with two writers and a reader.
class Run {
 public:
  explicit Run(const Configuration& configuration)
      : purges_(configuration.purge_disposed || configuration.purge_nowriter),
        factory_([this](DomainId) { return loopback_.attach(); }, clock_),
        participant_(value_of(factory_.create_participant(0, {.name = "differential"}))),
        topic_(value_of(participant_->create_topic("cells", type_, {}))),
        publisher_(value_of(participant_->create_publisher({}))),
        subscriber_(value_of(participant_->create_subscriber({}))),
        reader_(value_of(subscriber_->create_datareader(topic_, reader_qos(configuration)))) {
    for (std::size_t i = 0; i < 2; i++)
      writers_.push_back(value_of(publisher_->create_datawriter(topic_, writer_qos(configuration, i))));
    while (reader_->matched_publications().size() < writers_.size()) {
    }
  }
  ~Run() {
    if (participant_->delete_contained_entities()) (void)factory_.delete_participant(participant_);
  }
  Run(const Run&) = delete;

  /// What a read or a take shows.
  std::vector<Seen> look(const Step& step) {
    ReadOptions options;
    options.state = {step.sample_states, step.view_states, step.instance_states};
    options.max_samples = step.max_samples;
    if (step.of_instance) {
      const InstanceHandle instance = value_of(reader_->lookup_instance(bytes_of(step.cell)));
      if (instance.is_nil()) return {};
      options.instance = instance;
    }
    const auto samples = step.action == Action::take ? reader_->take(options) : reader_->read(options);
    if (!samples) throw std::runtime_error("Llamada: " + to_string(step) + ": " + samples.error().text());
    std::vector<Seen> seen;
    for (const LoanedSamples::Sample& each : *samples) seen.push_back(seen_of(each));
    return seen;
  }

  void write(const Step& step) {
    DataWriter& writer = *writers_[step.writer];
    const auto cell = bytes_of(step.cell);
    const Timestamp time{step.timestamp_ns};
    if (step.action == Action::register_) (void)value_of(writer.register_instance(cell, time));
    if (step.action == Action::write) check(writer.write(cell, handle_nil, time), step);
    if (step.action == Action::dispose) check(writer.dispose(cell, handle_nil, time), step);
    if (step.action == Action::unregister) check(writer.unregister_instance(cell, handle_nil, time), step);
    // What is to be purged at once is purged by the next read after the clock's next step.
    if (purges_ && step.action != Action::write) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    // A KEEP_LAST writer may write over what the reader has not fetched: it fetches now, and shows nothing.
    (void)value_of(reader_->read({.max_samples = 0}));
  }

 private:
  static std::vector<std::byte> bytes_of(const Cell& cell) { return value_of(types::serialize(cell)); }

  Seen seen_of(const LoanedSamples::Sample& sample) const {
    const SampleInfo& info = sample.info;
    Cell cell;
    if (info.valid_data) {
      cell = value_of(types::deserialize<Cell>(sample.data));
    } else {
      cell.key = value_of(types::deserialize<Cell>(value_of(reader_->key_value(info.instance_handle)))).key;
    }
    return {cell,
            info.valid_data,
            info.sample_state,
            info.view_state,
            info.instance_state,
            info.disposed_generation_count,
            info.no_writers_generation_count,
            info.sample_rank,
            info.generation_rank,
            info.absolute_generation_rank};
  }

  bool purges_;
  SystemClock clock_;
  topics::Loopback loopback_;
  DomainParticipantFactory factory_;
  std::shared_ptr<const types::TypeSupport> type_ = std::make_shared<types::TypeSupportOf<Cell>>();
  std::shared_ptr<DomainParticipant> participant_;
  std::shared_ptr<Topic> topic_;
  std::shared_ptr<Publisher> publisher_;
  std::shared_ptr<Subscriber> subscriber_;
  std::shared_ptr<DataReader> reader_;
  std::vector<std::shared_ptr<DataWriter>> writers_;
};

}  // namespace

Outcome run_with_llamada(const Script& script) {
  Run run(script.configuration);
  return outcome_of(script, run);
}

}  // namespace llamada::interop
