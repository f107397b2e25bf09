#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <list>

#include "measure.hpp"

// Fast DDS as it comes (shared memory within a node): RELIABLE, KEEP_ALL, VOLATILE.

namespace {

using namespace llamada;
namespace fast = eprosima::fastdds::dds;
using eprosima::fastrtps::Duration_t;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using eprosima::fastrtps::types::ReturnCode_t;

/// Bytes where the program has them, or in a std::vector: copied once each way.
struct Bytes {
  const std::byte* sent = nullptr;
  std::size_t size = 0;
  std::vector<std::byte> received;
};

/// A number of bytes behind the header of four that says that they are CDR.
class BytesType final : public fast::TopicDataType {
 public:
  explicit BytesType(std::size_t size) {
    setName(("bytes" + std::to_string(size)).c_str());
    m_typeSize = static_cast<std::uint32_t>(size + header_bytes);
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }
  bool serialize(void* data, SerializedPayload_t* payload) override {
    const auto& bytes = *static_cast<Bytes*>(data);
    const unsigned char header[header_bytes] = {0, CDR_LE, 0, 0};
    std::memcpy(payload->data, header, header_bytes);
    std::memcpy(payload->data + header_bytes, bytes.sent, bytes.size);
    payload->encapsulation = CDR_LE;
    payload->length = static_cast<std::uint32_t>(bytes.size + header_bytes);
    return true;
  }
  bool deserialize(SerializedPayload_t* payload, void* data) override {
    auto& bytes = static_cast<Bytes*>(data)->received;
    bytes.resize(payload->length - header_bytes);
    std::memcpy(bytes.data(), payload->data + header_bytes, bytes.size());
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void*) override {
    return [size = m_typeSize] { return size; };
  }
  void* createData() override { return new Bytes; }
  void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
  bool getKey(void*, InstanceHandle_t*, bool) override { return false; }

 private:
  static constexpr std::uint32_t header_bytes = 4;
};

template <typename Made>
Made* made(Made* thing) {
  if (thing == nullptr) bench::give_up("Fast DDS makes no entity");
  return thing;
}

class Node {
 public:
  Node(int number, int readers, bool sleeps)
      : participant_(made(fast::DomainParticipantFactory::get_instance()->create_participant(
            0, fast::PARTICIPANT_QOS_DEFAULT))),
        publisher_(made(participant_->create_publisher(fast::PUBLISHER_QOS_DEFAULT))),
        subscriber_(made(participant_->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT))),
        first_(number == 0),
        wanted_(number == 0 ? readers : 1),
        sleeps_(sleeps) {}
  ~Node() {
    if (writer_ != nullptr) writer_->wait_for_acknowledgments({60, 0});
    participant_->delete_contained_entities();
    fast::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }

  void prepare(std::size_t size) {
    if (writer_ != nullptr) writer_->wait_for_acknowledgments({60, 0});
    fast::TypeSupport type(new BytesType(size));
    type.register_type(participant_);
    const auto topic = [&](const char* name) {
      return made(participant_->create_topic(bench::name_of_run() + name + std::to_string(size),
                                             type.get_type_name(), fast::TOPIC_QOS_DEFAULT));
    };
    fast::DataWriterQos writer_qos;
    writer_qos.reliability().max_blocking_time = {60, 0};
    writer_qos.history().kind = fast::KEEP_ALL_HISTORY_QOS;
    fast::DataReaderQos reader_qos;
    reader_qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
    reader_qos.history().kind = fast::KEEP_ALL_HISTORY_QOS;
    writer_ = made(publisher_->create_datawriter(topic(first_ ? "ping" : "pong"), writer_qos));
    reader_ = made(subscriber_->create_datareader(topic(first_ ? "pong" : "ping"), reader_qos));
    fast::PublicationMatchedStatus readers;
    fast::SubscriptionMatchedStatus writers;
    do {
      usleep(1000);
      writer_->get_publication_matched_status(readers);
      reader_->get_subscription_matched_status(writers);
    } while (readers.current_count < wanted_ || writers.current_count < wanted_);
  }

  void send(const std::byte* data, std::size_t size) {
    Bytes bytes{data, size, {}};
    if (!writer_->write(&bytes)) bench::give_up("Fast DDS does not write");
  }

  void send_in_place(std::size_t) { bench::give_up("Fast DDS lends no room for samples of this type"); }

  void receive(std::byte* ends) {
    take(taken_);
    ends[0] = taken_.received.front();
    ends[1] = taken_.received.back();
  }

  void hold(int count) {
    for (int i = 0; i < count; ++i) take(held_.emplace_back());
  }

 private:
  void take(Bytes& into) {
    fast::SampleInfo info;
    do {
      while (reader_->take_next_sample(&into, &info) != ReturnCode_t::RETCODE_OK)
        if (sleeps_) reader_->wait_for_unread_message(Duration_t{60, 0});
    } while (!info.valid_data);
  }

  fast::DomainParticipant* const participant_;
  fast::Publisher* const publisher_;
  fast::Subscriber* const subscriber_;
  fast::DataWriter* writer_ = nullptr;
  fast::DataReader* reader_ = nullptr;
  Bytes taken_;
  std::list<Bytes> held_;
  const bool first_;
  const int wanted_;
  const bool sleeps_;
};

}  // namespace

int main(int argc, char** argv) { return llamada::bench::measure<Node>(argc, argv); }
