#include <atomic>

#include "entity_fixture.hpp"

// A call that waits in one thread ends when another thread deletes its entity, or when the domain is lost.
namespace llamada::dcps::test {
namespace {

/// What `call` fails with when `end` is done by another thread while it waits.
template <typename Call, typename End>
Error error_of(Call call, End end) {
  std::atomic<bool> begun{false};
  Error error(Errc::timeout, "the call succeeded");
  std::thread caller([&] {
    begun = true;
    if (auto outcome = call(); !outcome) error = outcome.error();
  });
  CHECK(eventually([&] { return begun.load(); }));
  std::this_thread::sleep_for(20ms);  // in whatever order, the outcome is the same
  end();
  caller.join();
  return error;
}

/// RELIABLE KEEP_ALL with room for one sample, and no limit to waiting.
qos::DataWriterQos narrow_writer() {
  auto qos = reliable_writer();
  qos.reliability.max_blocking_time = qos::duration_infinite;
  qos.resource_limits.max_samples = 1;
  return qos;
}

qos::DataReaderQos narrow_reader() {
  auto qos = reliable_reader();
  qos.resource_limits.max_samples = 1;
  return qos;
}

/// A writer whose second sample a reader has no room for.
struct Stuck : Domain {
  explicit Stuck(const qos::DataWriterQos& qos = narrow_writer(), const qos::PublisherQos& of_publisher = {})
      : publisher(Domain::publisher(of_publisher)), reader(Domain::reader(narrow_reader())) {
    writer = Domain::writer(qos, publisher);
    await_match(*writer);
    REQUIRE(writer->write(reading(1, 1)));
    REQUIRE(writer->write(reading(1, 2)));
    REQUIRE(eventually([&] { return reader->sample_rejected_status().total_count > 0; }));
  }

  std::shared_ptr<Publisher> publisher;
  std::shared_ptr<DataReader> reader;
  std::shared_ptr<DataWriter> writer;
};

TEST_CASE("closing: a write that waits for room ends when its writer is deleted", "[dcps]") {
  Stuck stuck;
  const Error error = error_of([&] { return stuck.writer->write(reading(1, 3)); },
                               [&] { REQUIRE(stuck.publisher->delete_datawriter(stuck.writer)); });
  CHECK(error.code() == Errc::closed);
  CHECK(stuck.writer->write(reading(1, 4)).error().code() == Errc::closed);
}

TEST_CASE("closing: wait_for_acknowledgments() of a writer that is deleted fails", "[dcps]") {
  Stuck stuck;
  const Error error = error_of([&] { return stuck.writer->wait_for_acknowledgments(qos::duration_infinite); },
                               [&] { REQUIRE(stuck.publisher->delete_datawriter(stuck.writer)); });
  CHECK(error.code() == Errc::closed);
}

TEST_CASE("closing: wait_for_acknowledgments() of a publisher that is deleted fails", "[dcps]") {
  Stuck stuck;
  const auto wait = [&] { return stuck.publisher->wait_for_acknowledgments(qos::duration_infinite); };
  CHECK(error_of(wait, [&] { REQUIRE(stuck.here->delete_contained_entities()); }).code() == Errc::closed);
  CHECK(wait().error().code() == Errc::closed);
}

TEST_CASE("closing: the end of a coherent set that waits for room fails when its writer is deleted",
          "[dcps]") {
  qos::PublisherQos sets;
  sets.presentation.coherent_access = true;
  Domain domain;
  auto publisher = domain.publisher(sets);
  qos::SubscriberQos whole;
  whole.presentation.coherent_access = true;
  auto qos = narrow_writer();
  qos.resource_limits.max_samples = 2;
  auto reader = domain.reader(narrow_reader(), domain.subscriber(whole));
  auto writer = domain.writer(qos, publisher);
  await_match(*writer);
  REQUIRE(publisher->begin_coherent_changes());
  REQUIRE(writer->write(reading(1, 1)));
  REQUIRE(writer->write(reading(1, 2)));
  const auto end = [&]() -> Status {
    while (true) {  // until one finds no room
      if (Status status = publisher->end_coherent_changes(); !status) return status;
      if (Status status = publisher->begin_coherent_changes(); !status) return status;
      if (Status status = writer->write(reading(1, 3)); !status) return status;
    }
  };
  CHECK(error_of(end, [&] { REQUIRE(domain.here->delete_contained_entities()); }).code() == Errc::closed);
}

TEST_CASE("closing: wait_for_historical_data() of a reader that is deleted fails", "[dcps]") {
  Domain domain;
  auto offered = reliable_writer();
  offered.durability.kind = qos::DurabilityKind::transient_local;
  auto writer = domain.writer(offered);
  for (int value = 0; value < 3; ++value) REQUIRE(writer->write(reading(1, value)));
  auto requested = narrow_reader();  // with no room for the history
  requested.durability.kind = qos::DurabilityKind::transient_local;
  auto subscriber = domain.subscriber();
  auto reader = domain.reader(requested, subscriber);
  const Error error = error_of([&] { return reader->wait_for_historical_data(qos::duration_infinite); },
                               [&] { REQUIRE(subscriber->delete_datareader(reader)); });
  CHECK(error.code() == Errc::closed);
}

TEST_CASE("closing: find_topic() of a participant that is deleted fails", "[dcps]") {
  Domain domain;
  const Error error = error_of([&] { return domain.here->find_topic("none", qos::duration_infinite); },
                               [&] { REQUIRE(domain.factory.delete_participant(domain.here)); });
  CHECK(error.code() == Errc::closed);
}

TEST_CASE("closing: a WaitSet ends its wait when the entity of a condition is deleted", "[dcps]") {
  Domain domain;
  auto reader = domain.reader();
  auto publisher = domain.publisher();
  WaitSet wait_set;
  const auto wait = [&] { return wait_set.wait(qos::duration_infinite); };
  SECTION("a read condition") {
    wait_set.attach(*reader->create_readcondition({}));
    CHECK(error_of(wait, [&] { REQUIRE(domain.there->delete_contained_entities()); }).code() == Errc::closed);
  }
  SECTION("a status condition") {
    reader->status_condition()->set_enabled_statuses(status::data_available);
    wait_set.attach(reader->status_condition());
    CHECK(error_of(wait, [&] { REQUIRE(domain.there->delete_contained_entities()); }).code() == Errc::closed);
  }
  SECTION("status conditions of two participants") {
    wait_set.attach(publisher->status_condition());
    wait_set.attach(domain.there->status_condition());
    CHECK(error_of(wait, [&] { REQUIRE(domain.here->delete_publisher(publisher)); }).code() == Errc::closed);
  }
}

// A domain that is lost.

/// Hands on to another transport, until it is told that the domain has gone.
class LosableTransport final : public topics::Transport {
 public:
  LosableTransport(std::unique_ptr<topics::Transport> inner, std::shared_ptr<std::atomic<bool>> lost)
      : inner_(std::move(inner)), lost_(std::move(lost)) {}

  log::ArenaWriter& arena() override { return inner_->arena(); }
  std::uint32_t slot() const override { return inner_->slot(); }
  std::uint32_t slot_count() const override { return inner_->slot_count(); }
  Peer peer(std::uint32_t slot) const override { return inner_->peer(slot); }
  Result<bool> poll() override {
    if (*lost_) return failure(Errc::closed, "nobody takes this participant");
    return inner_->poll();
  }
  void release_replaced() override { inner_->release_replaced(); }
  std::uint64_t roster_changes() const override { return inner_->roster_changes() + (*lost_ ? 1 : 0); }
  void wake(std::uint32_t slot) override { inner_->wake(slot); }
  void wake_all() override { inner_->wake_all(); }
  Status wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) override {
    return inner_->wait(look_again, std::min<std::chrono::nanoseconds>(at_most, 20ms));
  }

 private:
  const std::unique_ptr<topics::Transport> inner_;
  const std::shared_ptr<std::atomic<bool>> lost_;
};

/// Two participants, of which one loses the domain.
struct Losing {
  SystemClock clock;
  topics::Loopback loopback;
  std::shared_ptr<std::atomic<bool>> lost = std::make_shared<std::atomic<bool>>(false);
  DomainParticipantFactory factory{[this](DomainId) -> Result<std::unique_ptr<topics::Transport>> {
                                     auto inner = loopback.attach();
                                     if (!inner) return propagate(inner);
                                     return std::unique_ptr<topics::Transport>(
                                         std::make_unique<LosableTransport>(std::move(*inner), lost));
                                   },
                                   clock};
  std::shared_ptr<DomainParticipant> participant = *factory.create_participant(0, {});
  std::shared_ptr<Topic> topic = *participant->create_topic("readings", type_of<Reading>(), {});
  std::shared_ptr<Publisher> publisher = *participant->create_publisher({});
  std::shared_ptr<Subscriber> subscriber = *participant->create_subscriber({});
  std::shared_ptr<DataWriter> writer = *publisher->create_datawriter(topic, narrow_writer());
  std::shared_ptr<DataReader> reader = *subscriber->create_datareader(topic, narrow_reader());

  Losing() {
    await_match(*writer);
    await_match(*reader);
    REQUIRE(writer->write(reading(1, 1)));
    REQUIRE(eventually([&] { return (reader->status_changes() & status::data_available) != 0; }));
  }
  ~Losing() {
    CHECK(participant->delete_contained_entities());
    CHECK(factory.delete_participant(participant));
  }
};

struct MatchListener : DataReaderListener {
  void on_subscription_matched(DataReader&, const SubscriptionMatchedStatus& status) override {
    current = status.current_count;
  }
  std::atomic<int> current{-1};
};

TEST_CASE("a lost domain: all operations give its error, and statuses and listeners tell of it", "[dcps]") {
  Losing losing;
  MatchListener listener;
  losing.reader->set_listener(&listener, status::subscription_matched);
  *losing.lost = true;
  CHECK(eventually([&] { return listener.current == 0; }));
  CHECK(losing.writer->publication_matched_status().current_count == 0);
  CHECK(losing.reader->liveliness_changed_status().alive_count == 0);
  const std::string why = "nobody takes this participant";
  const auto fails = [&](const auto& outcome) {
    return !outcome && outcome.error().code() == Errc::closed && outcome.error().text() == why;
  };
  CHECK(fails(losing.writer->write(reading(1, 2))));
  CHECK(fails(losing.writer->loan_sample(100)));
  CHECK(fails(losing.writer->dispose(reading(1, 2))));
  CHECK(fails(losing.writer->wait_for_acknowledgments(0s)));
  CHECK(fails(losing.writer->assert_liveliness()));
  CHECK(fails(losing.publisher->wait_for_acknowledgments(0s)));
  CHECK(fails(losing.publisher->begin_coherent_changes()));
  CHECK(fails(losing.publisher->create_datawriter(losing.topic, narrow_writer())));
  CHECK(fails(losing.subscriber->create_datareader(losing.topic, narrow_reader())));
  CHECK(fails(losing.participant->create_publisher({})));
  CHECK(fails(losing.participant->find_topic("readings", 0s)));
  CHECK(fails(losing.participant->assert_liveliness()));
  CHECK(fails(losing.reader->wait_for_historical_data(0s)));
  CHECK(take_text(*losing.reader, {.max_samples = 1}) == "1:1");  // it came before
  (void)losing.reader->take();
  CHECK(fails(losing.reader->take()));
  losing.reader->set_listener(nullptr);
}

TEST_CASE("a lost domain: calls that wait end with its error", "[dcps]") {
  Losing losing;
  const auto lose = [&] { *losing.lost = true; };
  SECTION("a write") {
    REQUIRE(losing.writer->write(reading(1, 2)));  // the reader has no room for it
    CHECK(error_of([&] { return losing.writer->write(reading(1, 3)); }, lose).code() == Errc::closed);
  }
  SECTION("wait sets") {
    losing.subscriber->status_condition()->set_enabled_statuses(status::none);
    WaitSet leading, following;
    auto guard = std::make_shared<GuardCondition>();
    following.attach(losing.subscriber->status_condition());
    following.attach(guard);
    leading.attach(losing.subscriber->status_condition());
    std::optional<Errc> code;
    std::thread waiting([&] {
      auto outcome = following.wait(qos::duration_infinite);
      if (!outcome) code = outcome.error().code();
    });
    CHECK(error_of([&] { return leading.wait(qos::duration_infinite); }, lose).code() == Errc::closed);
    waiting.join();
    CHECK(code == Errc::closed);
  }
}

}  // namespace
}  // namespace llamada::dcps::test
