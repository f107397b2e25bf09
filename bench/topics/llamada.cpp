#include "llamada/base/copy.hpp"
#include "llamada/llamanet/transport.hpp"
#include "llamada/topics/domain_participant.hpp"
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

class Node {
 public:
  Node(bool first, bool sleeps)
      : transport_(open_transport()), participant_(*transport_, clock_), sleeps_(sleeps) {
    qos::DataWriterQos writer_qos;
    writer_qos.history.kind = qos::HistoryKind::keep_all;
    writer_qos.reliability.max_blocking_time = 60s;
    qos::DataReaderQos reader_qos;
    reader_qos.reliability.kind = qos::ReliabilityKind::reliable;
    reader_qos.history.kind = qos::HistoryKind::keep_all;
    auto writer = participant_.create_writer(first ? "ping" : "pong", "bytes", writer_qos);
    auto reader = participant_.create_reader(first ? "pong" : "ping", "bytes", reader_qos);
    if (!writer || !reader) bench::give_up("an endpoint cannot be made");
    writer_ = std::move(*writer);
    reader_ = std::move(*reader);
    if (!participant_.wait([&] { return writer_->matched_count() > 0 && reader_->matched_count() > 0; }, 60s))
      bench::give_up("the other one does not come");
  }

  void prepare(const char*, std::size_t) {}

  void send(const std::byte* data, std::size_t size) {
    auto loan = writer_->loan(size);
    if (!loan) bench::give_up(loan.error().text());
    copy_bytes(loan->payload().data(), data, size);
    writer_->write(std::move(*loan));
  }

  void receive(std::byte* ends) {
    auto sample = reader_->take();
    while (!sample) {
      if (sleeps_ && !reader_->wait_for_data(60s)) bench::give_up("no sample comes");
      sample = reader_->take();
    }
    ends[0] = sample->data().front();
    ends[1] = sample->data().back();
  }

 private:
  SystemClock clock_;
  std::unique_ptr<topics::Transport> transport_;
  topics::DomainParticipant participant_;
  std::unique_ptr<topics::DataWriter> writer_;
  std::unique_ptr<topics::DataReader> reader_;
  bool sleeps_;
};

}  // namespace

int main(int argc, char** argv) { return llamada::bench::measure<Node>(argc, argv); }
