#include "spy.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "domain.hpp"
#include "interrupt.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/llamanet/transport.hpp"
#include "llamada/topics/participant.hpp"
#include "sample_printer.hpp"

namespace llamada::tools {
namespace {

using nlohmann::ordered_json;
using namespace std::chrono_literals;

/// What a reader must share with a writer: of each kind the topic needs a reader.
struct ReaderKind {
  std::string type;
  bool keyed = false;
  qos::OwnershipKind ownership = qos::OwnershipKind::shared;

  auto operator<=>(const ReaderKind&) const = default;
};

ReaderKind kind_of(const topics::EndpointInfo& writer) {
  return {writer.type, writer.keyed, writer.qos.datawriter.ownership.kind};
}

/// A reader's policies that fit every writer of that ownership: of all that is requested, the least.
qos::EndpointQos least_request(qos::OwnershipKind ownership, bool with_history) {
  qos::DataReaderQos reader;
  reader.ownership.kind = ownership;
  reader.latency_budget.duration = qos::duration_infinite;
  if (with_history) reader.durability.kind = qos::DurabilityKind::transient_local;
  qos::SubscriberQos subscriber;
  subscriber.partition.name = {"*"};
  return qos::endpoint_qos(reader, subscriber);
}

class Spy final : public topics::ReaderEvents, public topics::DiscoveryEvents {
 public:
  Spy(const SpyOptions& options, topics::Transport& transport, const Clock& clock, std::uint32_t domain)
      : options_(options),
        printer_(options),
        participant_(transport, clock, {domain, "llamada spy", {}}, this) {}

  Status run() {
    const Interrupt interrupt;
    while (!is_done() && printer_.error().empty() && !interrupt.wait(std::chrono::seconds(0))) {
      if (auto status = participant_.poll(); !status) return status;
      if (auto status = open_readers(); !status) return status;
      std::fflush(stdout);
      if (is_done()) break;
      // What ends it does not wake it: it looks again soon.
      if (auto status = participant_.wait([] { return false; }, 100ms); !status) return status;
    }
    if (!printer_.error().empty()) return failure(Errc::invalid_argument, "{}", printer_.error());
    if (lost_ > 0) fmt::print(stderr, "llamada: {} samples came too fast to be shown\n", lost_);
    return {};
  }

  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample) override {
    const topics::Sample taken = std::move(sample);
    if (!is_done() && printer_.print(writer, writer_name(writer), taken)) ++shown_;
    return true;
  }
  void on_matched(const topics::EndpointInfo&) override {}
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId& writer, bool died) override {
    fmt::print(stderr, "llamada: writer {} of {} {}\n", to_string(writer), writer_name(writer),
               died ? "has died" : "is gone");
  }
  void on_liveliness_changed(const topics::EndpointId&, bool) override {}
  void on_incompatible(const topics::EndpointInfo& writer,
                       const std::vector<qos::Incompatibility>& why) override {
    if (is_mine(writer))
      fmt::print(stderr, "llamada: writer {} of {} is not shown: {}\n", to_string(writer.id),
                 writer_name(writer.id), to_string(why));
  }
  void on_samples_lost(const topics::EndpointId&, std::uint64_t count) override { lost_ += count; }

  void on_participant(const topics::ParticipantInfo& participant) override {
    names_[participant.id] =
        fmt::format("{} (pid {})", participant.name.empty() ? "?" : participant.name, participant.pid);
  }
  void on_participant_gone(std::uint64_t) override {}
  void on_endpoint(const topics::EndpointInfo& endpoint) override {
    if (!endpoint.writer || endpoint.topic != options_.topic) return;
    printer_.add_writer(endpoint);
    const ReaderKind kind = kind_of(endpoint);
    if (kinds_.insert(kind).second) wanted_.push_back(kind);
  }
  void on_endpoint_changed(const topics::EndpointInfo&) override {}
  void on_endpoint_gone(const topics::EndpointId&) override {}

 private:
  bool is_done() const { return options_.count != 0 && shown_ >= options_.count; }

  /// A reader of another ownership reports nothing that matters: a reader of the right one is there.
  bool is_mine(const topics::EndpointInfo& writer) const { return !kinds_.contains(kind_of(writer)); }

  /// "sensor (pid 17)".
  std::string writer_name(const topics::EndpointId& writer) const {
    const auto found = names_.find(writer.participant);
    return found == names_.end() ? "?" : found->second;
  }

  Status open_readers() {
    for (const ReaderKind& kind : std::exchange(wanted_, {})) {
      topics::EndpointSpec spec;
      spec.topic = options_.topic;
      spec.type = kind.type;
      spec.keyed = kind.keyed;
      spec.qos = least_request(kind.ownership, options_.with_history);
      auto reader = participant_.create_reader(spec, *this);
      if (!reader) return propagate(reader);
      readers_.push_back(std::move(*reader));
      participant_.wake_self();
    }
    return {};
  }

  const SpyOptions& options_;
  SamplePrinter printer_;
  std::map<std::uint64_t, std::string> names_;
  std::set<ReaderKind> kinds_;
  std::vector<ReaderKind> wanted_;
  std::uint64_t shown_ = 0;
  std::uint64_t lost_ = 0;
  topics::Participant participant_;
  std::vector<std::unique_ptr<topics::ReaderEndpoint>> readers_;  // end before the participant
};

/// The driver that has the topic, and the topic's domain there; else the node's driver.
struct Where {
  std::string driver;
  std::uint32_t domain = 0;
  bool found = false;
};

Where find_topic(const std::vector<DriverView>& drivers, const SpyOptions& options) {
  for (const DriverView& driver : drivers) {
    for (const auto& endpoint : driver.view.endpoints) {
      const std::uint32_t domain = driver.view.domain_of(endpoint.info);
      if (endpoint.info.topic == options.topic && options.domain.value_or(domain) == domain)
        return {driver.name, domain, true};
    }
  }
  return {"", options.domain.value_or(0), false};
}

}  // namespace

int spy(const SpyOptions& options) {
  auto drivers = view_drivers();
  if (!drivers) {
    fmt::print(stderr, "llamada: {}\n", drivers.error().text());
    return 1;
  }
  const Where where = find_topic(*drivers, options);
  if (!where.found)
    fmt::print(stderr, "llamada: {}; waiting for one\n", no_such_topic(*drivers, options.topic));
  llamanet::ApplicationOptions application;
  application.socket_name = where.driver;
  application.name = "llamada spy";
  auto transport = llamanet::LlamanetTransport::open(application);
  if (!transport) {
    fmt::print(stderr, "llamada: {}\n", transport.error().text());
    return 1;
  }
  const SystemClock clock;
  Spy spy(options, **transport, clock, where.domain);
  if (auto status = spy.run(); !status) {
    fmt::print(stderr, "llamada: {}\n", status.error().text());
    return status.error().code() == Errc::invalid_argument ? 2 : 1;
  }
  return 0;
}

}  // namespace llamada::tools
