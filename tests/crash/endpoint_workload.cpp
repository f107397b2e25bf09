#include "endpoint_workload.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "llamada/llamanet/transport.hpp"
#include "llamada/topics/participant.hpp"
#include "points.hpp"

namespace llamada::crash {
namespace {

using namespace std::chrono_literals;
using namespace topics;

constexpr std::uint64_t sample_count = 150;  // of each writer
constexpr std::uint64_t instance_count = 4;
constexpr std::int32_t depth = 3;
constexpr std::size_t held_count = 20;  // samples a reader has in place for a while: more than hold words
constexpr unsigned watchdog_s = 100;

enum Kind : std::uint32_t { recycling_log, kept_log, kept_slots, lossy_slots, kind_count };

EndpointSpec spec_of(std::uint32_t kind, bool writer) {
  const bool reliable = kind != lossy_slots;
  const auto reliability = reliable ? qos::ReliabilityKind::reliable : qos::ReliabilityKind::best_effort;
  const auto durability = kind == kept_log || kind == kept_slots ? qos::DurabilityKind::transient_local
                                                                 : qos::DurabilityKind::volatile_;
  EndpointSpec spec{fmt::format("topic {}", kind), "type", 0, true, {}, 0};
  qos::DataWriterQos offered;
  offered.reliability.kind = reliability;
  offered.durability.kind = durability;
  offered.history = kind == kept_slots ? qos::History{qos::HistoryKind::keep_last, depth}
                                       : qos::History{qos::HistoryKind::keep_all};
  qos::DataReaderQos requested;
  requested.reliability.kind = reliability;
  requested.durability.kind = durability;
  spec.qos = writer ? qos::endpoint_qos(offered, {}) : qos::endpoint_qos(requested, {});
  return spec;
}

std::vector<std::byte> payload_of(std::uint64_t number) {
  constexpr std::array<std::size_t, 3> sizes{8, 200, 3000};
  std::vector<std::byte> payload(sizes[number % sizes.size()]);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(number * 31 + i);
  return payload;
}

struct NoWriterEvents final : WriterEvents {
  void on_matched(const EndpointInfo&) override {}
  void on_qos_changed(const EndpointInfo&) override {}
  void on_unmatched(const EndpointId&, bool) override {}
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_liveliness_lost() override {}
};

/// What one reader has got from each writer, and what is wrong with it.
struct Check final : ReaderEvents {
  explicit Check(std::uint32_t kind) : kind(kind) {}

  bool on_sample(const EndpointId& writer, Sample&& sample) override {
    const std::uint64_t number = sample.header().sequence_number;
    std::uint64_t& last = last_of[writer];
    const bool from_start = kind == kept_log;
    const bool gapless = (kind == recycling_log && last != 0) || from_start;
    if (gapless ? number != last + 1 : number <= last)
      error = fmt::format("topic {}: sample {} came after {}", kind, number, last);
    last = number;
    check_content(sample);
    newest_of[writer][sample.header().instance] = number;
    sample.let_evacuate(true);
    held.push_back(std::move(sample));
    if (held.size() > held_count) {
      check_content(held.front());
      held.pop_front();
    }
    if (number == sample_count) finish(writer);
    return true;
  }
  void on_matched(const EndpointInfo&) override {}
  void on_qos_changed(const EndpointInfo&) override {}
  void on_unmatched(const EndpointId&, bool) override {}
  void on_liveliness_changed(const EndpointId&, bool) override {}
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_samples_lost(const EndpointId&, std::uint64_t) override {}

  void check_content(const Sample& sample) {
    const auto expected = payload_of(sample.header().sequence_number);
    if (!std::equal(expected.begin(), expected.end(), sample.data().begin(), sample.data().end()))
      error =
          fmt::format("topic {}: sample {} is not what was published", kind, sample.header().sequence_number);
  }
  /// A writer has published all: of each instance, RELIABLE KEEP_LAST must have brought the last.
  void finish(const EndpointId& writer) {
    done = true;
    if (kind != kept_slots) return;
    for (std::uint64_t i = 0; i < instance_count; ++i) {
      const std::uint64_t newest = sample_count - (sample_count - i) % instance_count;
      if (newest_of[writer][i] != newest)
        error = fmt::format("topic {}: of instance {}, {} came last and not {}", kind, i,
                            newest_of[writer][i], newest);
    }
  }

  std::uint32_t kind;
  std::map<EndpointId, std::uint64_t> last_of;
  std::map<EndpointId, std::map<std::uint64_t, std::uint64_t>> newest_of;
  std::deque<Sample> held;
  bool done = false;
  std::string error;
};

class EndpointProcess {
 public:
  EndpointProcess(std::uint32_t role, const std::string& socket_name, EndpointBoard& board)
      : role_(role), board_(board) {
    llamanet::ApplicationOptions options;
    options.socket_name = socket_name;
    auto application = llamanet::Application::attach(options);
    if (!application) fail(application.error().text());
    transport_ = std::make_unique<llamanet::LlamanetTransport>(std::move(*application));
    participant_ = std::make_unique<Participant>(*transport_, clock_);
  }

  void run() {
    role_ == 0 ? write_all() : read_all();
    participant_.reset();
    transport_.reset();
    std::snprintf(board_.points[role_], sizeof(board_.points[role_]), "%s", passes_so_far().c_str());
  }

  [[noreturn]] void fail(const std::string& text) {
    std::snprintf(board_.error, sizeof(board_.error), "role %u: %s", role_, text.c_str());
    ::_exit(1);
  }

 private:
  template <typename Value>
  Value must(Result<Value> result) {
    if (!result) fail(result.error().text());
    if constexpr (!std::is_void_v<Value>) return std::move(*result);
  }

  template <typename Condition>
  void wait_until(Condition condition) {
    const auto looks = [&] {
      must(participant_->poll());
      return condition();
    };
    while (!looks()) must(participant_->wait(looks, 100ms));
  }

  void write_all() {
    NoWriterEvents events;
    std::array<std::unique_ptr<WriterEndpoint>, kind_count> writers;
    for (std::uint32_t kind = 0; kind < kind_count; ++kind)
      writers[kind] = must(participant_->create_writer(spec_of(kind, true), events));
    for (auto& writer : writers)
      wait_until([&] { return writer->matched_count() + board_.readers_done.load() >= 2; });
    // One that comes and goes, with nobody to read.
    for (std::uint32_t kind : {recycling_log, kept_slots}) {
      auto spec = spec_of(kind, true);
      spec.topic = "nobody's";
      auto writer = must(participant_->create_writer(spec, events));
      must(writer->publish(payload_of(1), {}));
      writer.reset();
      must(participant_->poll());
    }
    for (std::uint64_t number = 1; number <= sample_count; ++number) {
      for (auto& writer : writers) publish(*writer, number);
      if (number % 50 == 0) {
        auto spec = spec_of(kept_slots, true);
        spec.qos.datawriter.ownership_strength.value = static_cast<std::int32_t>(number);
        must(writers[kept_slots]->set_qos(spec.qos));
      }
      must(participant_->poll());
    }
    wait_until([&] { return board_.readers_done.load() >= 2; });
    for (auto& writer : writers) {
      wait_until([&] { return writer->all_acknowledged(); });
      writer.reset();
    }
    rewind();
  }

  /// Large samples that nobody reads, so that each takes the room of the one before.
  void rewind() {
    NoWriterEvents events;
    auto spec = spec_of(recycling_log, true);
    spec.topic = "nobody's";
    auto writer = must(participant_->create_writer(spec, events));
    const std::vector<std::byte> large(70000);
    for (int i = 0; i < 4; ++i) must(writer->publish(large, {}));
  }

  void publish(WriterEndpoint& writer, std::uint64_t number) {
    SampleHeader header;
    header.instance = number % instance_count;
    const auto payload = payload_of(number);
    auto published = writer.publish(payload, header);
    while (!published && published.error().code() == Errc::would_block) {
      must(participant_->wait(
          [&] {
            must(participant_->poll());
            published = writer.publish(payload, header);
            return published.has_value();
          },
          100ms));
    }
    if (must(std::move(published)) != number) fail("a sample has got a wrong number");
  }

  void read_all() {
    std::vector<std::unique_ptr<Check>> checks;
    std::vector<std::unique_ptr<ReaderEndpoint>> readers;
    for (std::uint32_t kind = 0; kind < kind_count; ++kind) {
      checks.push_back(std::make_unique<Check>(kind));
      readers.push_back(must(participant_->create_reader(spec_of(kind, false), *checks.back())));
    }
    wait_until([&] {
      bool all = true;
      for (const auto& check : checks) {
        if (!check->error.empty()) fail(check->error);
        // What is lossy or VOLATILE may be over before a late reader has come.
        all &= check->done || check->kind == lossy_slots || check->kind == recycling_log;
      }
      return all;
    });
    for (const auto& check : checks) check->held.clear();
  }

  std::uint32_t role_;
  EndpointBoard& board_;
  SystemClock clock_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Participant> participant_;
};

}  // namespace

void run_endpoints(std::uint32_t role, const std::string& socket_name, EndpointBoard& board) {
  ::alarm(watchdog_s);
  EndpointProcess(role, socket_name, board).run();
  if (role != 0) ++board.readers_done;
  ::_exit(0);
}

}  // namespace llamada::crash
