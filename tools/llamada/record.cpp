#include "record.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "domain.hpp"
#include "fail.hpp"
#include "interrupt.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/llamanet/transport.hpp"
#include "llamada/recording/recording_writer.hpp"
#include "topic_tap.hpp"

namespace llamada::tools {
namespace {

using namespace std::chrono_literals;

class Recorder final : public TapEvents {
 public:
  Recorder(const RecordOptions& options, topics::Transport& transport, const Clock& clock,
           recording::RecordingWriter&& file, std::uint32_t domain)
      : options_(options),
        clock_(clock),
        started_(clock.monotonic()),
        file_(std::move(file)),
        tap_({domain, "llamada record", options.topics, false, !options.best_effort}, transport, clock,
             *this) {}

  Status run() {
    while (!is_done() && !interrupt_.wait(0s)) {
      if (auto status = look(); !status) return status;
      if (is_done()) break;
      // An interrupt does not wake it: it looks again soon.
      if (auto status = tap_.wait(100ms); !status) return status;
    }
    if (auto status = look(); !status) return status;
    return file_.end({now_ns()});
  }

  std::string summary() const {
    return fmt::format("{} sample{} of {} writer{} on {} topic{}{}", samples_, samples_ == 1 ? "" : "s",
                       last_number_, last_number_ == 1 ? "" : "s", topics_.size(),
                       topics_.size() == 1 ? "" : "s",
                       lost_ == 0 ? "" : fmt::format("; {} more came too fast and are lost", lost_));
  }

  void on_writer(const topics::EndpointInfo& writer, const std::string& participant) override {
    recording::Writer described;
    described.number = numbers_[writer.id] = ++last_number_;
    described.topic = writer.topic;
    described.type = writer.type;
    described.type_hash = writer.type_hash;
    described.type_description = writer.type_description;
    described.keyed = writer.keyed;
    described.qos = writer.qos;
    described.publisher =
        publishers_.try_emplace({writer.id.participant, writer.publisher}, publishers_.size() + 1)
            .first->second;
    described.participant = participant;
    topics_.insert(writer.topic);
    add(described);
  }
  void on_writer_changed(const topics::EndpointInfo& writer) override {
    add(recording::QosChange{numbers_.at(writer.id), writer.qos});
  }
  void on_sample(const topics::EndpointId& writer, const topics::Sample& sample) override {
    if (is_done()) return;
    recording::Sample recorded{numbers_.at(writer), now_ns(), sample.header(), {}};
    if (written_) written_ = file_.add(recorded, sample.data());
    ++samples_;
  }
  void on_samples_lost(const topics::EndpointId& writer, std::uint64_t count) override {
    lost_ += count;
    add(recording::SamplesLost{numbers_.at(writer), count});
  }
  void on_writer_gone(const topics::EndpointId& writer, bool died) override {
    add(recording::WriterGone{numbers_.at(writer), now_ns(), died});
    numbers_.erase(writer);
  }

 private:
  bool is_done() const { return options_.count != 0 && samples_ >= options_.count; }
  std::int64_t now_ns() const { return (clock_.monotonic() - started_).count(); }

  /// What has happened is in the file when it returns.
  Status look() {
    if (auto status = tap_.poll(); !status) return status;
    if (written_) written_ = file_.flush();
    return written_;
  }

  void add(const recording::Record& record) {
    if (written_) written_ = file_.add(record);
  }

  const RecordOptions& options_;
  const Clock& clock_;
  const std::chrono::nanoseconds started_;
  const Interrupt interrupt_;
  recording::RecordingWriter file_;
  Status written_;
  std::map<topics::EndpointId, std::uint32_t> numbers_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> publishers_;
  std::set<std::string> topics_;
  std::uint32_t last_number_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t lost_ = 0;
  TopicTap tap_;
};

/// A topic may still come; a name that is not there may also be wrong.
void name_missing_topics(const std::vector<DriverView>& drivers, const RecordOptions& options) {
  for (const std::string& topic : options.topics)
    if (!find_topics(drivers, {topic}, options.domain).found)
      fmt::print(stderr, "llamada: {}; waiting for one\n", no_such_topic(drivers, topic));
}

}  // namespace

int record(const RecordOptions& options) {
  auto drivers = view_drivers();
  if (!drivers) return fail(drivers.error());
  const TopicPlace where = find_topics(*drivers, options.topics, options.domain);
  name_missing_topics(*drivers, options);
  const SystemClock clock;
  auto file = recording::RecordingWriter::create(options.file, {clock.realtime().count(), where.domain});
  if (!file) return fail(file.error());
  llamanet::ApplicationOptions application;
  application.socket_name = where.driver;
  application.name = "llamada record";
  auto transport = llamanet::LlamanetTransport::open(application);
  if (!transport) return fail(transport.error());
  Recorder recorder(options, **transport, clock, std::move(*file), where.domain);
  fmt::print(stderr, "llamada: recording {} in domain {} to {}; end with Ctrl-C\n",
             options.topics.empty() ? "all topics" : fmt::format("'{}'", fmt::join(options.topics, "', '")),
             where.domain, options.file);
  const Status status = recorder.run();
  fmt::print(stderr, "llamada: {}: {}\n", options.file, recorder.summary());
  return status ? 0 : fail(status.error());
}

}  // namespace llamada::tools
