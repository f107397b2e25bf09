#include <atomic>
#include <mutex>

#include "entity_fixture.hpp"

namespace llamada::dcps::test {
namespace {

/// Counts its calls by name.
class Log {
 public:
  void add(const std::string& what) {
    std::lock_guard held(mutex_);
    ++calls_[what];
  }
  int count(const std::string& what) const {
    std::lock_guard held(mutex_);
    auto found = calls_.find(what);
    return found == calls_.end() ? 0 : found->second;
  }
  bool await(const std::string& what, int count = 1) const {
    return eventually([&] { return this->count(what) >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> calls_;
};

struct ReaderListener : DataReaderListener, Log {
  void on_data_available(DataReader& reader) override {
    taken += take_text(reader) + ' ';
    add("data");
  }
  void on_subscription_matched(DataReader&, const SubscriptionMatchedStatus& status) override {
    add(status.current_count_change > 0 ? "matched" : "unmatched");
  }
  void on_requested_incompatible_qos(DataReader&, const RequestedIncompatibleQosStatus&) override {
    add("incompatible");
  }
  std::string taken;
};

struct ReadersListener : SubscriberListener, Log {
  void on_data_on_readers(Subscriber& subscriber) override {
    add("readers");
    if (notifies && subscriber.notify_datareaders()) add("notified");
  }
  void on_data_available(DataReader& reader) override { add(reader.topicdescription()->name()); }
  std::atomic<bool> notifies{false};
};

struct ParticipantListener : DomainParticipantListener, Log {
  void on_subscription_matched(DataReader&, const SubscriptionMatchedStatus&) override { add("matched"); }
  void on_publication_matched(DataWriter&, const PublicationMatchedStatus&) override { add("matched"); }
  void on_data_available(DataReader&) override { add("data"); }
  void on_inconsistent_topic(Topic&, const InconsistentTopicStatus&) override { add("inconsistent"); }
};

TEST_CASE("listeners: a reader's own hears of matches and data", "[dcps]") {
  Domain domain;
  ReaderListener listener;
  auto reader = domain.reader();
  reader->set_listener(&listener);
  CHECK(reader->listener() == &listener);
  auto publisher = domain.publisher();
  auto writer = domain.writer(reliable_writer(), publisher);
  CHECK(listener.await("matched"));
  REQUIRE(writer->write(reading(1, 10)));
  CHECK(listener.await("data"));
  CHECK((reader->status_changes() & status::subscription_matched) == 0);
  CHECK(reader->subscription_matched_status().total_count_change == 0);
  REQUIRE(publisher->delete_contained_entities());
  CHECK(listener.await("unmatched"));
  reader->set_listener(nullptr);
  CHECK(listener.taken.substr(0, 5) == "1:10 ");
}

TEST_CASE("listeners: what nobody near listens to goes to the participant's", "[dcps]") {
  Domain domain;
  ParticipantListener above;
  ReaderListener near;
  // DATA_ON_READERS, if wanted there, would be told first.
  domain.there->set_listener(&above, status::all & ~status::data_on_readers);
  auto reader = domain.reader();
  reader->set_listener(&near, status::data_available);
  auto writer = domain.writer();
  CHECK(above.await("matched"));
  CHECK(near.count("matched") == 0);
  REQUIRE(writer->write(reading(1, 10)));
  CHECK(near.await("data"));
  CHECK(above.count("data") == 0);
  auto note = *domain.here->create_topic("notes", type_of<Note>(), {});
  (void)domain.topic(domain.there, "notes");
  auto note_writer = *domain.publisher()->create_datawriter(note, reliable_writer());
  CHECK(above.await("inconsistent"));
  domain.there->set_listener(nullptr);
  reader->set_listener(nullptr);
}

TEST_CASE("listeners: DATA_ON_READERS is told instead of DATA_AVAILABLE, and can hand it on", "[dcps]") {
  Domain domain;
  ReadersListener listener;
  const bool notifies = GENERATE(false, true);
  listener.notifies = notifies;
  auto subscriber = domain.subscriber();
  subscriber->set_listener(&listener);
  auto reader = domain.reader(reliable_reader(), subscriber);
  auto writer = domain.writer();
  await_match(*writer);
  REQUIRE(writer->write(reading(1, 10)));
  CHECK(listener.await("readers"));
  if (notifies) CHECK(listener.await("readings"));
  subscriber->set_listener(nullptr);
  CHECK(listener.count("readings") == (notifies ? 1 : 0));
}

TEST_CASE("listeners: may delete the entity that they are told of", "[dcps]") {
  struct Deleter : DataReaderListener, Log {
    void on_data_available(DataReader& reader) override {
      auto self = std::static_pointer_cast<DataReader>(reader.shared_from_this());
      if (reader.subscriber()->delete_datareader(self)) add("deleted");
    }
  } listener;
  Domain domain;
  auto reader = domain.reader();
  reader->set_listener(&listener);
  auto writer = domain.writer();
  await_match(*writer);
  REQUIRE(writer->write(reading(1, 10)));
  CHECK(listener.await("deleted"));
  CHECK(reader->is_deleted());
  CHECK(reader->take().error().code() == Errc::closed);
}

TEST_CASE("listeners: may write, and wait for room, which another makes", "[dcps]") {
  struct Echo : DataReaderListener, Log {
    void on_data_available(DataReader& reader) override {
      auto samples = reader.take();
      for (const auto& each : *samples) {
        if (each.info.valid_data && writer->write(each.data)) add("echoed");
      }
    }
    std::shared_ptr<DataWriter> writer;
  } listener;
  Domain domain;
  auto qos = reliable_writer();
  qos.resource_limits.max_samples = 2;
  auto echoes =
      *(*domain.there->create_publisher({}))->create_datawriter(domain.topic(domain.there, "echoes"), qos);
  listener.writer = echoes;
  auto subscriber = *domain.here->create_subscriber({});
  auto echo_reader_qos = reliable_reader();
  echo_reader_qos.resource_limits.max_samples = 1;
  auto echo_reader = *subscriber->create_datareader(domain.topic(domain.here, "echoes"), echo_reader_qos);
  auto reader = domain.reader();
  reader->set_listener(&listener);
  auto writer = domain.writer();
  await_match(*writer);
  await_match(*echoes);
  std::string expected;
  for (std::int32_t value = 0; value < 50; ++value) {
    REQUIRE(writer->write(reading(1, value)));
    expected += (value == 0 ? "" : " ") + fmt::format("1:{}", value);
  }
  CHECK(take_until(*echo_reader, expected) == expected);
  reader->set_listener(nullptr);
  CHECK(listener.count("echoed") == 50);
}

TEST_CASE("statuses: incompatible QoS is told at both ends with the policy and the reason", "[dcps]") {
  Domain domain;
  auto offered = reliable_writer();
  offered.deadline.period = 10s;
  auto requested = reliable_reader();
  requested.deadline.period = 1s;
  requested.durability.kind = qos::DurabilityKind::transient_local;
  auto writer = domain.writer(offered);
  auto reader = domain.reader(requested);
  RequestedIncompatibleQosStatus status;
  REQUIRE(eventually([&] { return (status = reader->requested_incompatible_qos_status()).total_count > 0; }));
  CHECK(status.policies.size() == 2);
  CHECK(status.last_policy_id == qos::PolicyId::durability);
  CHECK(!status.last_reason.empty());
  REQUIRE(eventually([&] { return writer->offered_incompatible_qos_status().total_count > 0; }));
  CHECK(writer->matched_subscriptions().empty());
}

}  // namespace
}  // namespace llamada::dcps::test
