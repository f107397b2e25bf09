// OWNERSHIP EXCLUSIVE while the service is away: what late readers get is what a reader that was there got.
#include "service_pair.hpp"

namespace llamada::service {
namespace {

EndpointSpec exclusive(std::int32_t strength) {
  EndpointSpec spec = kept_all();
  spec.qos.datawriter.ownership.kind = qos::OwnershipKind::exclusive;
  spec.qos.datawriter.ownership_strength.value = strength;
  return spec;
}

/// A weak and a strong writer, which comes later. Values 1, 2, ... say the order of all samples.
struct Contest : Domain {
  Contest() { start(one); }

  Application& weak = add(exclusive(1));
  Application* strong = &add(exclusive(2));
  int value = 0;

  void write(Application& application, ChangeKind kind = ChangeKind::alive, std::uint64_t instance = 1) {
    SampleHeader header;
    header.instance = instance;
    header.kind = kind;
    header.source_timestamp_ns = application.peer.clock.realtime().count();
    const std::vector<std::byte> data(100, std::byte(++value));
    REQUIRE(application.writer.endpoint->publish(data, header));
  }
  void end_strong() {
    applications.pop_back();
    strong = nullptr;
  }
  bool all_acknowledged() {
    return await_acknowledged(weak) && (strong == nullptr || await_acknowledged(*strong));
  }
  std::string heard() {
    REQUIRE(all_acknowledged());
    EndpointSpec spec = reader_spec();
    spec.qos.datareader.ownership.kind = qos::OwnershipKind::exclusive;
    return past(spec);
  }
};

}  // namespace

TEST_CASE("service: after a restart only the strongest of an EXCLUSIVE instance's writers is kept",
          "[service]") {
  Contest contest;
  contest.write(*contest.strong);
  contest.write(contest.weak);
  REQUIRE(contest.all_acknowledged());
  contest.one.end();
  contest.write(contest.weak);
  contest.write(*contest.strong);
  contest.write(contest.weak);
  contest.start(contest.one);
  contest.write(contest.weak);
  CHECK(contest.heard() == "1.1 1.4");
}

TEST_CASE("service: what writers wrote while there was no service is judged in its order", "[service]") {
  Contest contest;
  contest.write(*contest.strong);
  contest.write(contest.weak);
  REQUIRE(contest.all_acknowledged());
  contest.one.end();
  contest.write(contest.weak);
  contest.write(*contest.strong, ChangeKind::unregistered);
  contest.write(contest.weak);
  contest.write(contest.weak);
  contest.write(*contest.strong);
  contest.write(contest.weak);
  contest.start(contest.one);
  CHECK(contest.heard() == "1.1 1.5 1.6 1.7");
}

TEST_CASE("service: an owner that ended while there was no service owned its instance up to its last sample",
          "[service]") {
  Contest contest;
  contest.write(*contest.strong);
  contest.write(contest.weak);
  REQUIRE(contest.all_acknowledged());
  contest.one.end();
  contest.write(contest.weak);
  contest.end_strong();
  contest.write(contest.weak);
  const auto begin = std::chrono::steady_clock::now();
  contest.start(contest.one);
  // Nobody can know when it ended, so that what came after its last sample is kept.
  CHECK(contest.heard() == "1.1 1.3 1.4");
  CHECK(std::chrono::steady_clock::now() - begin >= 1s);  // it might have come still
}

TEST_CASE("service: what EXCLUSIVE writers have left is judged at once, however much it is", "[service]") {
  constexpr int count = 20'000;
  Contest contest;
  contest.write(*contest.strong);
  REQUIRE(contest.all_acknowledged());
  contest.one.end();
  SECTION("first the one, then the other") {
    for (int k = 0; k < count; ++k) contest.write(*contest.strong);
    for (int k = 0; k < count; ++k) contest.write(contest.weak);
  }
  SECTION("by turns") {
    for (int k = 0; k < count; ++k) {
      contest.write(*contest.strong);
      contest.write(contest.weak);
    }
  }
  contest.start(contest.one);
  const auto is_all_there = [&] {
    for (Application* each : {&contest.weak, contest.strong}) {
      REQUIRE(each->peer.participant.poll());
      if (!each->writer.endpoint->has_keeper() || !each->writer.endpoint->all_acknowledged()) return false;
    }
    return true;
  };
  const auto begin = std::chrono::steady_clock::now();
  int waits = 0;
  for (; !is_all_there(); ++waits) REQUIRE(contest.one.service->wait(3s));
  CHECK(std::chrono::steady_clock::now() - begin < 20s);  // none of the waits lasted
  CHECK(waits < 500);                                     // batches of 64 KiB
  CHECK(contest.one.service->figures().samples == count + 1);
}

TEST_CASE("service: a strength that was changed while there was no service costs no sample", "[service]") {
  Contest contest;
  contest.write(*contest.strong);
  contest.write(contest.weak);
  REQUIRE(contest.all_acknowledged());
  contest.one.end();
  contest.write(*contest.strong);
  auto weaker = exclusive(0).qos;
  REQUIRE(contest.strong->writer.endpoint->set_qos(weaker));
  contest.go_on();
  contest.write(contest.weak);
  contest.start(contest.one);
  CHECK(contest.heard() == "1.1 1.3 1.4");
  contest.write(*contest.strong);
  contest.write(contest.weak);
  CHECK(contest.heard() == "1.1 1.3 1.4 1.6");
}

TEST_CASE("service: the one that takes over knows who owns an EXCLUSIVE instance", "[service]") {
  const bool is_restarted = GENERATE(false, true);
  Contest contest;
  contest.write(*contest.strong);
  contest.write(contest.weak);
  contest.write(*contest.strong, ChangeKind::alive, 2);
  contest.write(*contest.strong, ChangeKind::unregistered, 2);
  REQUIRE(contest.all_acknowledged());
  contest.other.start();
  REQUIRE(contest.until([&] {
    contest.go_on();
    return contest.other.role() == ServiceRole::aligned;
  }));
  contest.write(contest.weak);
  contest.write(contest.weak, ChangeKind::alive, 2);
  REQUIRE(contest.all_acknowledged());
  if (is_restarted) {
    contest.other.end();
    contest.one.end();
    contest.write(contest.weak);
    contest.other.start();
  } else {
    contest.one.end();
    contest.write(contest.weak);
  }
  contest.write(*contest.strong);
  CHECK(contest.heard() == "1.1 2.3 2.6 1.8");
}

TEST_CASE("service: a late reader finds nothing more with the living writers than was to be heard",
          "[service]") {
  Contest contest;
  contest.write(contest.weak);
  contest.write(*contest.strong);
  contest.write(contest.weak);
  contest.write(contest.weak);
  CHECK(contest.heard() == "1.1 1.2");
}

namespace {

/// What a reader is told, in order: "2" a sample with this value, "end" a writer that has gone.
struct Told final : ReaderEvents {
  bool on_sample(const EndpointId&, Sample&& sample) override {
    const Sample taken = std::move(sample);
    words.push_back(std::to_string(std::to_integer<int>(taken.data()[0])));
    return true;
  }
  void on_unmatched(const EndpointId& writer, bool) override {
    if (writer == watched) words.emplace_back("end");
  }
  void on_matched(const EndpointInfo&) override {}
  void on_qos_changed(const EndpointInfo&) override {}
  void on_liveliness_changed(const EndpointId&, bool) override {}
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>&) override {}
  void on_samples_lost(const EndpointId&, std::uint64_t) override {}

  EndpointId watched;
  std::vector<std::string> words;
};

}  // namespace

TEST_CASE("service: a late reader is through with writers that have gone before it reads living ones",
          "[service]") {
  Contest contest;
  contest.write(*contest.strong);
  contest.write(contest.weak);
  REQUIRE(contest.all_acknowledged());
  EndpointSpec spec = reader_spec(qos::DurabilityKind::persistent);
  spec.qos.datareader.ownership.kind = qos::OwnershipKind::exclusive;
  Peer late(contest.fixture);
  Told told;
  told.watched = contest.strong->writer.endpoint->id();
  auto reader = late.participant.create_reader(spec, told);
  REQUIRE(reader);
  REQUIRE(contest.until([&] {
    const bool is_matched = (*reader)->matched_count() == 3;  // with what gives it the past, too
    if (!is_matched) REQUIRE(late.participant.poll());
    return is_matched;
  }));
  contest.go_on();  // the past lies before the reader
  contest.one.is_stopped = true;
  contest.end_strong();
  contest.write(contest.weak);
  REQUIRE(contest.until([&] {
    REQUIRE(late.participant.poll());
    return !told.words.empty() && told.words.back() == "3";
  }));
  CHECK(told.words == std::vector<std::string>{"1", "end", "3"});
}

TEST_CASE("service: what gives a late reader the past is weaker than all that live", "[service]") {
  Contest contest;
  contest.write(contest.weak);
  REQUIRE(contest.all_acknowledged());
  EndpointSpec spec = reader_spec(qos::DurabilityKind::persistent);
  spec.qos.datareader.ownership.kind = qos::OwnershipKind::exclusive;
  Peer late(contest.fixture);
  Reader reader;
  open(late, reader, spec);
  std::vector<std::int32_t> strengths;
  REQUIRE(contest.until([&] {
    REQUIRE(late.participant.poll());
    for (const EndpointInfo& each : std::exchange(reader.matched, {}))
      strengths.push_back(each.qos.datawriter.ownership_strength.value);
    return strengths.size() == 3;
  }));
  std::sort(strengths.begin(), strengths.end());
  CHECK(strengths == std::vector<std::int32_t>{INT32_MIN, 1, 2});
}

}  // namespace llamada::service
