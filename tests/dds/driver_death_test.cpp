#include <random>

#include "party.hpp"

// The driver llamanetd is killed under participants: they go on, and meet in the next one.

using namespace dds_test;

namespace {

void pause_for(std::chrono::microseconds span) { std::this_thread::sleep_for(span); }

/// Writes until the board says stop, reads all the while, and ends with all samples of all.
void write_and_read(Board& board, int index) {
  Party party;
  Ledger ledger(board);
  for (std::int64_t count = 0; !board.stop; ++count) {
    party.writer << Step{index, static_cast<std::int32_t>(count % 5), count / 5};
    ++board.written[index];
    ledger.take_from(party.reader);
    board.read[index] = ledger.count();
    board.matched[index] = party.writer.publication_matched_status().current_count();
    pause_for(std::chrono::microseconds(100));
  }
  party.writer.wait_for_acknowledgments(dds::core::Duration(100));
  while (!board.leave) {
    ledger.take_from(party.reader);
    board.read[index] = ledger.count();
    pause_for(std::chrono::milliseconds(1));
  }
}

void read_all(Board& board, int index) {
  Party party;
  Ledger ledger(board);
  while (!board.leave) {
    ledger.take_from(party.reader);
    board.read[index] = ledger.count();
    pause_for(std::chrono::milliseconds(1));
  }
}

bool all_have_read(Board& board, int readers) {
  return eventually([&] {
    for (int index = 0; index < readers; ++index)
      if (board.read[index] != board.written_by_all()) return false;
    return true;
  });
}

/// Three processes that write and read, each matched with all.
struct Three {
  OwnDriver driver;
  SharedBoard board;
  std::vector<pid_t> children;

  Three() {
    for (int index = 0; index < 3; ++index)
      children.push_back(in_child(*board, [this, index] { write_and_read(*board, index); }));
    REQUIRE(all_matched(3, 3));
  }

  /// Each of the first `writers` has that many readers.
  bool all_matched(int writers, int readers) {
    return eventually([&] {
      return std::all_of(board->matched.begin(), board->matched.begin() + writers,
                         [&](const auto& count) { return count == readers; });
    });
  }
  void signal(std::initializer_list<int> indices, int number) {
    for (const int index : indices) ::kill(children[static_cast<std::size_t>(index)], number);
  }
  void add_reader() {
    const int index = static_cast<int>(children.size());
    children.push_back(in_child(*board, [this, index] { read_all(*board, index); }));
  }
  /// All have all that was written, and end.
  void end_well() {
    const std::int64_t before = board->written_by_all();
    CHECK(eventually([&] { return board->written_by_all() > before + 100; }));
    board->stop = true;
    CHECK(all_have_read(*board, static_cast<int>(children.size())));
    board->leave = true;
    CHECK(all_ended(children));
    CHECK(board->faults == 0);
    CHECK(driver.has(-1));  // it ends with its last application
  }
};

}  // namespace

TEST_CASE("driver death: three processes lose no RELIABLE sample over 20 deaths of their driver",
          "[dds][driver]") {
  Three party;
  std::mt19937 random(20261127);
  for (int death = 0; death < 20; ++death) {
    pause_for(std::chrono::microseconds(random() % 40'000));
    party.driver.kill();
  }
  CHECK(party.driver.has(3));
  // Who comes late, through the last driver, gets what was written before each of its predecessors died.
  party.add_reader();
  CHECK(party.all_matched(3, 4));
  party.end_well();
}

TEST_CASE("driver death: a participant that dies while there is no driver is seen to be gone",
          "[dds][driver]") {
  Three party;
  party.signal({0, 1}, SIGSTOP);  // or they would start a driver
  party.driver.kill();
  party.signal({2}, SIGKILL);
  int status = 0;
  ::waitpid(party.children[2], &status, 0);
  party.signal({0, 1}, SIGCONT);
  CHECK(party.all_matched(2, 2));
  CHECK(party.driver.has(2));
  auto& board = *party.board;
  board.stop = true;
  // It may have died after its last sample and before it counted that.
  CHECK(
      eventually([&] { return board.read[0] == board.read[1] && board.read[0] >= board.written_by_all(); }));
  board.leave = true;
  party.children.pop_back();
  CHECK(all_ended(party.children));
  CHECK(board.faults == 0);
}

TEST_CASE("driver death: nobody misses a participant that is stopped while two drivers die",
          "[dds][driver]") {
  Three party;
  party.signal({1}, SIGSTOP);
  party.driver.kill();
  CHECK(party.driver.has(2));
  party.add_reader();
  CHECK(party.driver.has(3));
  party.driver.kill();
  CHECK(party.driver.has(3));
  CHECK(party.board->matched[0] >= 3);  // the stopped one among them
  party.signal({1}, SIGCONT);
  CHECK(party.driver.has(4));
  CHECK(party.all_matched(3, 4));
  party.end_well();
}

TEST_CASE("driver death: participants find their way to a driver that a newcomer has started first",
          "[dds][driver]") {
  Three party;
  party.signal({0, 1, 2}, SIGSTOP);
  party.driver.kill();
  party.add_reader();  // in the slot of one of those
  CHECK(party.driver.has(1));
  party.signal({2, 0, 1}, SIGCONT);
  CHECK(party.driver.has(4));
  CHECK(party.all_matched(3, 4));
  party.driver.kill();
  CHECK(party.driver.has(4));
  party.end_well();
}
