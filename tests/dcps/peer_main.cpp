// The other process of the tests between processes: a participant that does what the lines on its standard
// input say. Each line is a verb and words; each answer is one line, "ok ..." or "error CODE SENTENCE". QoS
// come as the hexadecimal bytes of qos::serialize(EndpointQos). It ends with its input.
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>

#include "hex.hpp"
#include "llamanet_factory.hpp"

namespace llamada::dcps::test {
namespace {

class Peer {
 public:
  explicit Peer(const std::string& socket_name) : factory_(join_node(socket_name), clock_) {}

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    auto found = verbs_.find(verb);
    if (found == verbs_.end()) return "error unsupported no verb '" + verb + "'";
    return (this->*found->second)(words);
  }

  void leave() {
    if (!participant_) return;
    (void)participant_->delete_contained_entities();
    (void)factory_.delete_participant(participant_);
  }

 private:
  using Verb = std::string (Peer::*)(std::istringstream&);

  static std::string report(const Status& status, const std::string& text = {}) {
    if (!status) return fmt::format("error {} {}", to_string(status.error().code()), status.error().text());
    return "ok " + text;
  }
  template <typename T>
  static std::string report(const Result<T>& result) {
    if (!result) return fmt::format("error {} {}", to_string(result.error().code()), result.error().text());
    return "ok";
  }
  static std::string word(std::istringstream& words) {
    std::string next;
    words >> next;
    return next;
  }
  static std::int64_t number(std::istringstream& words) {
    std::int64_t next = 0;
    words >> next;
    return next;
  }
  static qos::EndpointQos qos_of(std::istringstream& words) {
    return *qos::deserialize(bytes_of_hex(word(words)));
  }
  std::shared_ptr<Topic> topic(const std::string& name, const qos::TopicData& data = {}) {
    if (auto known = participant_->lookup_topicdescription(name)) return known->topic();
    qos::TopicQos qos;
    qos.topic_data = data;
    return *participant_->create_topic(name, type_of<Reading>(), qos);
  }

  std::string join(std::istringstream& words) {
    DomainParticipantOptions options;
    options.name = word(words);
    options.qos.user_data.value = bytes_of_hex(word(words));
    auto participant = factory_.create_participant(0, options);
    if (participant) participant_ = *participant;
    return report(participant);
  }
  std::string user_data(std::istringstream& words) {
    qos::DomainParticipantQos qos;
    qos.user_data.value = bytes_of_hex(word(words));
    return report(participant_->set_qos(qos));
  }
  std::string topic_data(std::istringstream& words) {
    auto entity = topic(word(words));
    qos::TopicQos qos = entity->qos();
    qos.topic_data.value = bytes_of_hex(word(words));
    return report(entity->set_qos(qos));
  }
  std::string publisher(std::istringstream& words) {
    const std::string name = word(words);
    auto made = participant_->create_publisher(qos_of(words).publisher);
    if (made) publishers_[name] = *made;
    return report(made);
  }
  std::string subscriber(std::istringstream& words) {
    const std::string name = word(words);
    auto made = participant_->create_subscriber(qos_of(words).subscriber);
    if (made) subscribers_[name] = *made;
    return report(made);
  }
  std::string writer(std::istringstream& words) {
    const std::string name = word(words), publisher = word(words), topic_name = word(words);
    const qos::EndpointQos qos = qos_of(words);
    auto made =
        publishers_.at(publisher)->create_datawriter(topic(topic_name, qos.topic_data), qos.datawriter);
    if (made) writers_[name] = *made;
    return report(made);
  }
  std::string reader(std::istringstream& words) {
    const std::string name = word(words), subscriber = word(words), topic_name = word(words);
    auto made = subscribers_.at(subscriber)->create_datareader(topic(topic_name), qos_of(words).datareader);
    if (made) readers_[name] = *made;
    return report(made);
  }
  std::string enable(std::istringstream& words) { return report(writers_.at(word(words))->enable()); }
  std::string delete_writer(std::istringstream& words) {
    auto writer = writers_.at(word(words));
    return report(writer->publisher()->delete_datawriter(writer));
  }
  std::string set_writer_qos(std::istringstream& words) {
    auto& writer = writers_.at(word(words));
    return report(writer->set_qos(qos_of(words).datawriter));
  }
  std::string set_publisher_qos(std::istringstream& words) {
    auto& publisher = publishers_.at(word(words));
    return report(publisher->set_qos(qos_of(words).publisher));
  }

  // write WRITER SENSOR FIRST COUNT TEXT_SIZE TIMESTAMP_NS (-1: now): values FIRST, FIRST+1, ...
  std::string write(std::istringstream& words) {
    auto& writer = writers_.at(word(words));
    const auto sensor = static_cast<std::int32_t>(number(words));
    const auto first = static_cast<std::int32_t>(number(words));
    const auto count = static_cast<std::int32_t>(number(words));
    const std::string text(static_cast<std::size_t>(number(words)), 'x');
    const std::int64_t timestamp_ns = number(words);
    for (std::int32_t k = 0; k < count; ++k) {
      const Status status =
          writer->write(test::reading(sensor, first + k, text), handle_nil,
                        timestamp_ns < 0 ? std::nullopt : std::optional<Timestamp>(Timestamp(timestamp_ns)));
      if (!status) return report(status);
    }
    return "ok";
  }
  // write_sets WRITER FIRST LAST: for each value a coherent set that has it for the sensors 1 and 2.
  std::string write_sets(std::istringstream& words) {
    auto& writer = writers_.at(word(words));
    const auto publisher = writer->publisher();
    const auto first = static_cast<std::int32_t>(number(words));
    const auto last = static_cast<std::int32_t>(number(words));
    Status status;
    for (std::int32_t value = first; status && value <= last; ++value) {
      status = publisher->begin_coherent_changes();
      for (std::int32_t sensor = 1; status && sensor <= 2; ++sensor)
        status = writer->write(test::reading(sensor, value));
      if (status) status = publisher->end_coherent_changes();
    }
    return report(status);
  }
  // stream WRITER SENSOR PERIOD_US START_NS: writes how many periods have passed since START, stamped with
  // that moment, for ever; answers at once.
  std::string stream(std::istringstream& words) {
    auto writer = writers_.at(word(words));
    const auto sensor = static_cast<std::int32_t>(number(words));
    const auto period = std::chrono::microseconds(number(words));
    const Timestamp start = Timestamp(number(words));
    streams_.emplace_back([writer, sensor, period, start, this] {
      while (!ending_) {
        // All that stream since the same start write the same values at the same time.
        const auto value = static_cast<std::int32_t>((clock_.realtime() - start) / period);
        (void)writer->write(test::reading(sensor, value), handle_nil, start + value * period);
        std::this_thread::sleep_for(period);
      }
    });
    return "ok";
  }
  std::string dispose(std::istringstream& words) {
    auto& writer = writers_.at(word(words));
    return report(writer->dispose(test::reading(static_cast<std::int32_t>(number(words)), 0)));
  }
  std::string unregister(std::istringstream& words) {
    auto& writer = writers_.at(word(words));
    return report(writer->unregister_instance(test::reading(static_cast<std::int32_t>(number(words)), 0)));
  }
  std::string begin(std::istringstream& words) {
    return report(publishers_.at(word(words))->begin_coherent_changes());
  }
  std::string end(std::istringstream& words) {
    return report(publishers_.at(word(words))->end_coherent_changes());
  }
  std::string assert_writer(std::istringstream& words) {
    return report(writers_.at(word(words))->assert_liveliness());
  }
  std::string assert_participant(std::istringstream&) { return report(participant_->assert_liveliness()); }
  std::string acknowledged(std::istringstream& words) {
    auto& writer = writers_.at(word(words));
    return report(writer->wait_for_acknowledgments(std::chrono::milliseconds(number(words))));
  }
  // status WRITER: the totals of its statuses, and what is matched now.
  std::string status(std::istringstream& words) {
    auto& writer = writers_.at(word(words));
    const auto incompatible = writer->offered_incompatible_qos_status();
    return fmt::format(
        "ok deadline {} incompatible {} policy {} liveliness {} matched {} current {}",
        writer->offered_deadline_missed_status().total_count, incompatible.total_count,
        static_cast<std::uint32_t>(incompatible.last_policy_id), writer->liveliness_lost_status().total_count,
        writer->publication_matched_status().total_count, writer->matched_subscriptions().size());
  }
  std::string take(std::istringstream& words) { return "ok " + take_text(*readers_.at(word(words))); }
  std::string lost(std::istringstream& words) {
    return fmt::format("ok {}", readers_.at(word(words))->sample_lost_status().total_count);
  }
  std::string read_count(std::istringstream& words) {
    auto samples = readers_.at(word(words))->read();
    return samples ? fmt::format("ok {}", samples->size()) : report(samples);
  }
  std::string matched(std::istringstream& words) {
    return fmt::format("ok {}", readers_.at(word(words))->matched_publications().size());
  }
  std::string history(std::istringstream& words) {
    return report(readers_.at(word(words))->wait_for_historical_data(watchdog));
  }

 public:
  ~Peer() {
    ending_ = true;
    for (std::thread& stream : streams_) stream.join();
    leave();
  }

 private:
  inline static const std::map<std::string, Verb> verbs_ = {{"join", &Peer::join},
                                                            {"user_data", &Peer::user_data},
                                                            {"topic_data", &Peer::topic_data},
                                                            {"publisher", &Peer::publisher},
                                                            {"subscriber", &Peer::subscriber},
                                                            {"writer", &Peer::writer},
                                                            {"reader", &Peer::reader},
                                                            {"enable", &Peer::enable},
                                                            {"delete_writer", &Peer::delete_writer},
                                                            {"set_writer_qos", &Peer::set_writer_qos},
                                                            {"set_publisher_qos", &Peer::set_publisher_qos},
                                                            {"write", &Peer::write},
                                                            {"write_sets", &Peer::write_sets},
                                                            {"stream", &Peer::stream},
                                                            {"dispose", &Peer::dispose},
                                                            {"unregister", &Peer::unregister},
                                                            {"begin", &Peer::begin},
                                                            {"end", &Peer::end},
                                                            {"assert_writer", &Peer::assert_writer},
                                                            {"assert_participant", &Peer::assert_participant},
                                                            {"acknowledged", &Peer::acknowledged},
                                                            {"status", &Peer::status},
                                                            {"take", &Peer::take},
                                                            {"lost", &Peer::lost},
                                                            {"read_count", &Peer::read_count},
                                                            {"matched", &Peer::matched},
                                                            {"history", &Peer::history}};
  SystemClock clock_;
  DomainParticipantFactory factory_;
  std::shared_ptr<DomainParticipant> participant_;
  std::map<std::string, std::shared_ptr<Publisher>> publishers_;
  std::map<std::string, std::shared_ptr<Subscriber>> subscribers_;
  std::map<std::string, std::shared_ptr<DataWriter>> writers_;
  std::map<std::string, std::shared_ptr<DataReader>> readers_;
  std::atomic<bool> ending_{false};
  std::vector<std::thread> streams_;
};

}  // namespace
}  // namespace llamada::dcps::test

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  llamada::dcps::test::Peer peer(argv[1]);
  for (std::string line; std::getline(std::cin, line);) std::cout << peer.answer(line) << std::endl;
  return 0;
}
