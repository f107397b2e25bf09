#include <deque>

#include "llamada/base/copy.hpp"
#include "llamada/llamanet/transport.hpp"
#include "llamada/topics/participant.hpp"
#include "measure.hpp"

// Our topics: RELIABLE, KEEP_ALL, VOLATILE; over a driver that the first of the two starts.

namespace {

using namespace llamada;
using namespace std::chrono_literals;

std::unique_ptr<topics::Transport> open_transport() {
  llamanet::ApplicationOptions options;
  options.name = "bench";
  options.start_driver = true;
  options.driver_program = LLAMADA_DRIVER_PROGRAM;
  auto transport = llamanet::LlamanetTransport::open(options);
  if (!transport) bench::give_up(transport.error().text());
  return std::move(*transport);
}

topics::EndpointSpec spec_of(const char* topic, bool writer) {
  qos::DataWriterQos writer_qos;
  writer_qos.history.kind = qos::HistoryKind::keep_all;
  qos::DataReaderQos reader_qos;
  reader_qos.reliability.kind = qos::ReliabilityKind::reliable;
  reader_qos.history.kind = qos::HistoryKind::keep_all;
  return {topic, "bytes", 0, false,
          writer ? qos::endpoint_qos(writer_qos, {}) : qos::endpoint_qos(reader_qos, {})};
}

class Node final : topics::ReaderEvents, topics::WriterEvents {
 public:
  Node(bool first, bool sleeps)
      : transport_(open_transport()), participant_(*transport_, clock_), sleeps_(sleeps) {
    auto writer = participant_.create_writer(spec_of(first ? "ping" : "pong", true), *this);
    auto reader = participant_.create_reader(spec_of(first ? "pong" : "ping", false), *this);
    if (!writer) bench::give_up(writer.error().text());
    if (!reader) bench::give_up(reader.error().text());
    writer_ = std::move(*writer);
    reader_ = std::move(*reader);
    sleep_until([&] { return writer_->matched_count() > 0 && reader_->matched_count() > 0; });
  }
  /// The other one may not have all yet.
  ~Node() override {
    sleep_until([&] { return writer_->all_acknowledged(); });
  }

  void prepare(const char*, std::size_t) {}

  void send(const std::byte* data, std::size_t size) {
    auto loan = writer_->loan(size);
    while (!loan) {
      if (loan.error().code() != Errc::would_block) bench::give_up(loan.error().text());
      sleep_until([&] { return (loan = writer_->loan(size)).has_value(); });
    }
    copy_bytes(loan->data().data(), data, size);
    if (auto published = writer_->publish(std::move(*loan), {}); !published)
      bench::give_up(published.error().text());
  }

  void receive(std::byte* ends) {
    while (ends_.empty()) {
      if (sleeps_)
        sleep_until([&] { return !ends_.empty(); });
      else
        poll();
    }
    ends[0] = ends_.front().first;
    ends[1] = ends_.front().second;
    ends_.pop_front();
  }

 private:
  void poll() {
    if (auto polled = participant_.poll(); !polled) bench::give_up(polled.error().text());
  }

  /// It is not asked again once it holds.
  template <typename Condition>
  void sleep_until(Condition condition) {
    bool holds = false;
    const auto look = [&] {
      poll();
      return holds = holds || condition();
    };
    while (!look())
      if (auto waited = participant_.wait(look, 60s); !waited) bench::give_up(waited.error().text());
  }

  bool on_sample(const topics::EndpointId&, topics::Sample&& sample) override {
    const topics::Sample taken = std::move(sample);
    ends_.push_back({taken.data().front(), taken.data().back()});
    return true;
  }
  void on_matched(const topics::EndpointInfo&) override {}
  void on_qos_changed(const topics::EndpointInfo&) override {}
  void on_unmatched(const topics::EndpointId&, bool) override {}
  void on_liveliness_changed(const topics::EndpointId&, bool) override {}
  void on_incompatible(const topics::EndpointInfo&, const std::vector<qos::Incompatibility>&) override {
    bench::give_up("the two do not fit");
  }
  void on_samples_lost(const topics::EndpointId&, std::uint64_t) override {
    bench::give_up("samples are lost");
  }
  void on_liveliness_lost() override {}

  SystemClock clock_;
  std::unique_ptr<topics::Transport> transport_;
  topics::Participant participant_;
  std::deque<std::pair<std::byte, std::byte>> ends_;  // of the samples that have come
  std::unique_ptr<topics::WriterEndpoint> writer_;
  std::unique_ptr<topics::ReaderEndpoint> reader_;
  bool sleeps_;
};

}  // namespace

int main(int argc, char** argv) { return llamada::bench::measure<Node>(argc, argv); }
