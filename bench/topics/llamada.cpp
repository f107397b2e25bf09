#include <dds/dds.hpp>
#include <deque>
#include <memory>

#include "measure.hpp"

// Our DataWriters and DataReaders: RELIABLE, KEEP_ALL, VOLATILE, so that nothing is lost.

namespace {

using namespace llamada;

template <std::size_t size>
struct Bytes {
  std::array<std::uint8_t, size> bytes;
};
using Bytes16 = Bytes<16>;
using Bytes1024 = Bytes<1024>;
using Bytes16384 = Bytes<16384>;
using Bytes262144 = Bytes<262144>;
using Bytes1048576 = Bytes<1048576>;
LLAMADA_TYPE(Bytes16, bytes);
LLAMADA_TYPE(Bytes1024, bytes);
LLAMADA_TYPE(Bytes16384, bytes);
LLAMADA_TYPE(Bytes262144, bytes);
LLAMADA_TYPE(Bytes1048576, bytes);

/// The two topics of samples of one size.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void send(const std::byte* data) = 0;
  virtual void send_in_place() = 0;
  virtual void receive(std::byte* ends) = 0;
  virtual void hold(int count) = 0;
};

template <std::size_t size>
class ChannelOf final : public Channel {
 public:
  using Type = Bytes<size>;

  ChannelOf(const dds::domain::DomainParticipant& participant, bool first, int readers, bool sleeps)
      : writer_(dds::pub::Publisher(participant), topic(participant, first ? "ping" : "pong"), writer_qos()),
        reader_(dds::sub::Subscriber(participant), topic(participant, first ? "pong" : "ping"), reader_qos()),
        ready_(reader_, dds::sub::status::DataState::any()),
        sleeps_(sleeps) {
    waits_ += ready_;
    const int wanted = first ? readers : 1;
    while (writer_.publication_matched_status().current_count() < wanted ||
           reader_.subscription_matched_status().current_count() < wanted)
      usleep(1000);
  }
  /// The other ones may not have all yet.
  ~ChannelOf() override { writer_.wait_for_acknowledgments(dds::core::Duration(60)); }

  void send(const std::byte* data) override { writer_.write(*reinterpret_cast<const Type*>(data)); }

  void send_in_place() override {
    auto sample = writer_.loan_sample();
    sample->bytes.front() = 7;
    sample->bytes.back() = 7;
    writer_.write(std::move(sample));
  }

  void receive(std::byte* ends) override {
    const auto& bytes = next();
    ends[0] = std::byte{bytes.front()};
    ends[1] = std::byte{bytes.back()};
  }

  void hold(int count) override {
    for (int i = 0; i < count; ++i) {
      for (const std::uint8_t byte : next())
        if (byte != 7) bench::give_up("a sample is not what was sent");
      if (at_ < taken_.size()) continue;
      held_.push_back(std::exchange(taken_, {}));
      at_ = 0;
    }
  }

 private:
  static auto topic(const dds::domain::DomainParticipant& participant, const char* name) {
    return dds::topic::Topic<Type>(participant, bench::name_of_run() + name + std::to_string(size));
  }
  static auto writer_qos() {
    using namespace dds::core::policy;
    return dds::pub::qos::DataWriterQos()
           << Reliability::Reliable(dds::core::Duration(60)) << History::KeepAll();
  }
  static auto reader_qos() {
    using namespace dds::core::policy;
    return dds::sub::qos::DataReaderQos() << Reliability::Reliable() << History::KeepAll();
  }

  const std::array<std::uint8_t, size>& next() {
    while (true) {
      while (at_ < taken_.size())
        if (const auto& sample = taken_[at_++]; sample.info().valid()) return sample.data().bytes;
      at_ = 0;
      taken_ = {};
      for (taken_ = reader_.take(); taken_.empty(); taken_ = reader_.take())
        if (sleeps_) waits_.wait(dds::core::Duration(60));
    }
  }

  dds::pub::DataWriter<Type> writer_;
  dds::sub::DataReader<Type> reader_;
  dds::sub::cond::ReadCondition ready_;
  dds::core::cond::WaitSet waits_;
  dds::sub::LoanedSamples<Type> taken_;
  std::size_t at_ = 0;
  std::deque<dds::sub::LoanedSamples<Type>> held_;
  bool sleeps_;
};

class Node {
 public:
  Node(int number, int readers, bool sleeps)
      : participant_(0), first_(number == 0), readers_(readers), sleeps_(sleeps) {}

  void prepare(std::size_t size) {
    channel_.reset();
    ((size == bench::sizes[0] && open<bench::sizes[0]>()) ||
     (size == bench::sizes[1] && open<bench::sizes[1]>()) ||
     (size == bench::sizes[2] && open<bench::sizes[2]>()) ||
     (size == bench::sizes[3] && open<bench::sizes[3]>()) || open<bench::sizes[4]>());
  }
  void send(const std::byte* data, std::size_t) { channel_->send(data); }
  void send_in_place(std::size_t) { channel_->send_in_place(); }
  void receive(std::byte* ends) { channel_->receive(ends); }
  void hold(int count) { channel_->hold(count); }

 private:
  template <std::size_t size>
  bool open() {
    channel_ = std::make_unique<ChannelOf<size>>(participant_, first_, readers_, sleeps_);
    return true;
  }

  dds::domain::DomainParticipant participant_;
  std::unique_ptr<Channel> channel_;
  const bool first_;
  const int readers_;
  const bool sleeps_;
};

}  // namespace

int main(int argc, char** argv) { return llamada::bench::measure<Node>(argc, argv); }
