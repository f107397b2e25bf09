#include <spawn.h>

#include "party.hpp"

// Programs fork, with or without exec(): the parent's entities are the parent's.

using namespace dds_test;

namespace {

/// What the program's static entities are: destroyed by exit(), in a child, too.
std::unique_ptr<Party>& at_exit() {
  static std::unique_ptr<Party> one;
  return one;
}

/// The text of the PreconditionNotMetError; empty: it throws another one, or nothing.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const dds::core::PreconditionNotMetError& error) {
    return error.what();
  } catch (...) {
  }
  return "";
}

/// Runs `body`, which says whether all is well, in a child of fork().
template <typename Body>
bool well_in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    try {
      ::_exit(body() ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The parent's stream, from its writer to its reader, and back to a reader that is matched still.
class Stream {
 public:
  explicit Stream(Party& party) : party_(party) {}

  bool goes_on() {
    for (int count = 0; count < 10; ++count) party_.writer << Step{7, 0, next_++};
    return eventually([&] {
             ledger_.take_from(party_.reader);
             return ledger_.count() == next_;
           }) &&
           board_->faults == 0 && party_.writer.publication_matched_status().current_count() == 1 &&
           party_.reader.subscription_matched_status().current_count() == 1;
  }

 private:
  Party& party_;
  SharedBoard board_;
  Ledger ledger_{*board_};
  std::int64_t next_ = 0;
};

}  // namespace

TEST_CASE("fork: a child that ends with exit() leaves the parent's entities alone", "[dds][fork]") {
  const OwnDriver driver;
  at_exit() = std::make_unique<Party>();
  Stream stream(*at_exit());
  CHECK(stream.goes_on());
  for (int round = 0; round < 3; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      at_exit().reset();  // as static entities go; Catch2 could not stand exit() itself
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(stream.goes_on());
  }
  at_exit().reset();
}

TEST_CASE("fork: in a child each use of the parent's entities is one error", "[dds][fork]") {
  const OwnDriver driver;
  auto party = std::make_unique<Party>();
  Stream stream(*party);
  CHECK(stream.goes_on());
  using namespace dds::core;
  cond::WaitSet waits;
  dds::sub::cond::ReadCondition data(party->reader, dds::sub::status::DataState::any());
  cond::StatusCondition statuses(party->writer);
  waits += data;
  const std::string wanted = fmt::format("made before fork() in process {}", ::getpid());
  CHECK(well_in_child([&] {
    bool well = true;
    const auto refuses = [&](const char* what, const std::function<void()>& action) {
      if (refusal(action).starts_with(wanted)) return;
      std::fprintf(stderr, "the child's %s is not refused\n", what);
      well = false;
    };
    refuses("write", [&] { party->writer << Step{7, 0, 0}; });
    refuses("take", [&] { (void)party->reader.take(); });
    refuses("read", [&] { (void)party->reader.select().max_samples(1).read(); });
    refuses("create", [&] { const dds::pub::Publisher publisher(party->participant); });
    refuses("topic", [&] { const dds::topic::Topic<Step> topic(party->participant, "another"); });
    refuses("writer", [&] { const dds::pub::DataWriter<Step> writer(party->publisher, party->topic); });
    refuses("wait", [&] { (void)waits.wait(Duration::from_millisecs(10)); });
    refuses("attach", [&] { cond::WaitSet().attach_condition(statuses); });
    refuses("status", [&] { (void)party->writer.publication_matched_status(); });
    refuses("acknowledgments", [&] { party->writer.wait_for_acknowledgments(Duration::from_millisecs(1)); });
    refuses("qos", [&] { (void)party->reader.qos(); });
    refuses("liveliness", [&] { party->participant.assert_liveliness(); });
    return well;
  }));
  CHECK(stream.goes_on());
  CHECK(well_in_child([&] {
    party->writer.close();  // the copies only
    party->participant.close();
    party.reset();
    return true;
  }));
  CHECK(stream.goes_on());
}

TEST_CASE("fork: what is on loan in the parent stays on loan when its child drops it", "[dds][fork]") {
  const OwnDriver driver;
  Party party;
  party.writer << Step{7, 0, 41};
  REQUIRE(eventually([&] { return party.reader.select().max_samples(1).read().length() == 1; }));
  auto samples = std::make_unique<dds::sub::LoanedSamples<Step>>(party.reader.take());
  auto room = std::make_unique<dds::pub::WriterLoan<Step>>(party.writer.loan_sample());
  CHECK(well_in_child([&] {
    samples.reset();
    room.reset();
    return true;
  }));
  REQUIRE(samples->length() == 1);
  CHECK((*samples)[0].data().number == 41);
  (*room)->number = 42;
  party.writer.write(std::move(*room));
  CHECK(take(party.reader, 1)[0].data().number == 42);
}

#ifndef __SANITIZE_THREAD__  // which has no threads in a child of a process with threads
TEST_CASE("fork: a child makes participants of its own, and meets the parent", "[dds][fork]") {
  const OwnDriver driver;
  Party party;
  CHECK(well_in_child([] {
    Party own;
    if (!eventually([&] { return own.writer.publication_matched_status().current_count() == 2; }))
      return false;
    own.writer << Step{8, 0, 0};
    own.writer.wait_for_acknowledgments(dds::core::Duration(30));
    return dds::domain::find(0) == own.participant;
  }));
  CHECK(take(party.reader, 1)[0].data().writer == 8);
  CHECK(driver.has(1));
}
#endif

TEST_CASE("fork: the parent's threads write while another one forks, spawns and executes", "[dds][fork]") {
  const OwnDriver driver;
  Party party;
  std::atomic<bool> stop{false}, all_written{false};
  const SharedBoard board;
  std::thread writing([&] {
    for (std::int64_t count = 0; !stop; ++count) party.writer << Step{0, 0, count}, ++board->written[0];
  });
  std::thread reading([&] {
    Ledger ledger(*board);
    while (!all_written || ledger.count() < board->written[0]) ledger.take_from(party.reader);
    board->read[0] = ledger.count();
  });
  const auto ends_well = [](pid_t child) {
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  for (int round = 0; round < 10; ++round) {
    CHECK(well_in_child([&] {
      party.participant.close();
      return !refusal([&] { (void)party.reader.take(); }).empty();
    }));
    pid_t child = ::fork();
    if (child == 0) {
      ::execv("/bin/true", arguments);
      ::_exit(1);
    }
    CHECK(ends_well(child));
    REQUIRE(::posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, nullptr) == 0);
    CHECK(ends_well(child));
  }
  stop = true;
  writing.join();
  all_written = true;
  reading.join();
  CHECK(board->read[0] == board->written[0]);
  CHECK(board->faults == 0);
}
