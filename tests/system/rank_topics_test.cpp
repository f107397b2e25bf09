// The topics on which a job can be seen, read by an ordinary DDS program.

#include <signal.h>

#include <algorithm>
#include <dds/dds.hpp>
#include <thread>

#include "llamada/types/job_topics.hpp"
#include "rank_spy.hpp"

namespace {

using namespace llamada;
using namespace llamada::system_test;
using test::Running;
using types::RankEvent;
using types::RankEventKind;
using types::RankMessage;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A program that reads a topic of the job's.
template <typename Sample>
class Reader {
 public:
  explicit Reader(const char* topic) : topic_(participant_, topic), reader_(subscriber_, topic_, qos()) {}

  /// All samples so far.
  const std::vector<Sample>& take() {
    for (const auto& sample : reader_.take())
      if (sample.info().valid()) samples_.push_back(sample.data());
    return samples_;
  }
  bool is_matched() { return reader_.subscription_matched_status().current_count() > 0; }

 private:
  dds::sub::qos::DataReaderQos qos() const {
    using namespace dds::core::policy;
    auto qos = subscriber_.default_datareader_qos();
    qos << Reliability::Reliable() << Durability::TransientLocal() << History::KeepAll();
    return qos;
  }

  dds::domain::DomainParticipant participant_{0};
  dds::topic::Topic<Sample> topic_;
  dds::sub::Subscriber subscriber_{participant_};
  dds::sub::DataReader<Sample> reader_;
  std::vector<Sample> samples_;
};

std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte each : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return text;
}

/// As `spy ranks --json` shows them.
std::vector<Known> known_in(const std::vector<RankMessage>& messages) {
  std::vector<Known> seen;
  for (const RankMessage& each : messages)
    seen.push_back({each.source, each.destination, each.context == 1 ? 1U : 0U, each.tag, each.length,
                    each.has_payload ? hex(each.payload).substr(0, 32) : ""});
  return seen;
}

bool has_event(const std::vector<RankEvent>& events, RankEventKind kind, int rank,
               std::uint32_t incarnation) {
  return std::ranges::any_of(events, [&](const RankEvent& each) {
    return each.kind == kind && each.rank == rank && each.incarnation == incarnation;
  });
}

double seconds_of_exchange(const std::vector<std::string>& options) {
  std::vector<std::string> words = {"-n", "2"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {LLAMADA_KNOWN_MESSAGES, "rate", "20000"});
  Job job(words);
  REQUIRE(job.wait() == 0);
  return std::stod(job.output());
}

double best_of_three(const std::vector<std::string>& options) {
  double best = seconds_of_exchange(options);
  for (int i = 0; i < 2; ++i) best = std::min(best, seconds_of_exchange(options));
  return best;
}

}  // namespace

TEST_CASE("rank topics: a DDS program reads messages and events of a job, also one that comes late",
          "[system]") {
  Reader<RankMessage> messages(types::rank_messages_topic);
  Reader<RankEvent> events(types::rank_events_topic);
  Running observer(spy_command({"--publish"}));
  KnownJob job({"--qos", "fault-tolerant", "--inject", "kill rank 0 in MPI_Send 12"});
  // The observer has met all three before one dies.
  for (int rank = 0; rank < 3; ++rank)
    REQUIRE(wait_for([&] { return has_event(events.take(), RankEventKind::started, rank, 1); }));
  job.go();
  job.await_sent();
  const auto expected = known_messages();
  CHECK(wait_for([&] { return messages.take().size() >= expected.size(); }));
  CHECK(wait_for([&] { return has_event(events.take(), RankEventKind::live, 0, 2); }));
  {
    Reader<RankMessage> late(types::rank_messages_topic);
    CHECK(wait_for([&] { return late.take().size() >= expected.size(); }));
    check_same(known_in(late.take()), expected);
  }
  CHECK(job.end() == 0);
  CHECK(wait_for([&] { return has_event(events.take(), RankEventKind::job_ended, -1, 0); }));
  check_same(known_in(messages.take()), expected);
  for (const RankMessage& each : messages.take()) CHECK(has(each.job, "job-"));
  CHECK(has_event(events.take(), RankEventKind::died, 0, 1));
  CHECK(has_event(events.take(), RankEventKind::replaced, 0, 2));
  CHECK(has_event(events.take(), RankEventKind::ended, 1, 1));
  const test::Ended ended = observer.end();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
}

TEST_CASE("rank topics: when the observer is killed its readers go on, and meet the next one", "[system]") {
  Reader<RankMessage> messages(types::rank_messages_topic);
  KnownJob job({"--qos", "fault-tolerant"});
  job.go();
  job.await_sent();
  const auto expected = known_messages();
  const std::string pid = std::to_string(job.process().pid());
  for (std::size_t observers = 1; observers <= 2; ++observers) {
    Running observer(spy_command({"--publish", pid}));
    REQUIRE(wait_for([&] { return messages.take().size() >= observers * expected.size(); }));
    CHECK(messages.is_matched());
    observer.send(SIGKILL);
    CHECK(observer.end().exit_code == 128 + SIGKILL);
    CHECK(wait_for([&] { return !messages.is_matched(); }));
  }
  // Each observer has told of the whole history, as it lies in the ranks' logs.
  const auto& seen = messages.take();
  REQUIRE(seen.size() == 2 * expected.size());
  for (const bool second : {false, true}) {
    const auto begin = seen.begin() + static_cast<std::ptrdiff_t>(second ? expected.size() : 0);
    check_same(known_in({begin, begin + static_cast<std::ptrdiff_t>(expected.size())}), expected);
  }
  CHECK(job.end() == 0);
  CHECK(job.process().wait_until_none_is_left(std::chrono::seconds(60)).empty());
}

TEST_CASE("rank topics: a missed DEADLINE is an event, once for each stay", "[system]") {
  const test::TemporaryFolder folder;
  const std::string profile = folder / "deadline.xml";
  std::ofstream(profile) << "<dds><qos_library name=\"l\"><qos_profile name=\"p\" "
                            "base_name=\"llamada::default\"><datawriter_qos><deadline>"
                            "<period><sec>0</sec><nanosec>300000000</nanosec></period></deadline>"
                            "</datawriter_qos></qos_profile></qos_library></dds>";
  Reader<RankEvent> events(types::rank_events_topic);
  Running observer(spy_command({"--publish"}));
  const std::string end = folder / "end";
  Job job({"-n", "2", "--qos", profile, LLAMADA_KNOWN_MESSAGES, "stays", end});
  CHECK(wait_for([&] { return has_event(events.take(), RankEventKind::deadline_missed, 1, 1); }));
  std::ofstream(end) << "end";
  CHECK(job.wait() == 0);
  CHECK(wait_for([&] { return has_event(events.take(), RankEventKind::job_ended, -1, 0); }));
  std::vector<RankEvent> missed;
  for (const RankEvent& each : events.take())
    if (each.kind == RankEventKind::deadline_missed && each.call == "MPI_Recv") missed.push_back(each);
  REQUIRE(missed.size() == 1);
  CHECK(missed[0].rank == 1);
  CHECK(missed[0].incarnation == 1);
  CHECK(missed[0].pid > 0);
  CHECK(missed[0].count > 0);
  CHECK(observer.end().exit_code == 0);
}

// The bound is wide, for the machine may be loaded; the figure is in docs/decisions.
TEST_CASE("rank topics: a reader that sleeps slows no rank", "[system]") {
  const double alone_s = best_of_three({});
  Reader<RankMessage> asleep(types::rank_messages_topic);
  double watched_s = 1e9;
  for (int i = 0; i < 3; ++i) {
    Running observer(spy_command({"--publish"}));
    REQUIRE(wait_for([&] { return has(observer.err(), "waiting for one") && asleep.is_matched(); }));
    watched_s = std::min(watched_s, seconds_of_exchange({}));
    observer.send(SIGKILL);
    (void)observer.end();
  }
  WARN("20000 messages to and fro: " << alone_s << " s alone, " << watched_s
                                     << " s while they are published");
  CHECK(watched_s < 3 * alone_s + 0.5);
}
