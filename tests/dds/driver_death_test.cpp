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

}  // namespace

TEST_CASE("driver death: three processes lose no RELIABLE sample over 20 deaths of their driver",
          "[dds][driver]") {
  const OwnDriver driver;
  const SharedBoard board;
  std::vector<pid_t> children;
  for (int index = 0; index < 3; ++index)
    children.push_back(in_child(*board, [&, index] { write_and_read(*board, index); }));
  REQUIRE(eventually([&] {
    return std::all_of(board->matched.begin(), board->matched.begin() + 3,
                       [](const auto& count) { return count == 3; });
  }));
  std::mt19937 random(20261127);
  for (int death = 0; death < 20; ++death) {
    pause_for(std::chrono::microseconds(random() % 40'000));
    driver.kill();
  }
  CHECK(driver.has(3));
  const std::int64_t before = board->written_by_all();
  CHECK(eventually([&] { return board->written_by_all() > before + 100; }));
  board->stop = true;
  CHECK(all_have_read(*board, 3));
  // Who comes late, through the last driver, gets what was written before each of its predecessors died.
  children.push_back(in_child(*board, [&] { read_all(*board, 3); }));
  CHECK(all_have_read(*board, 4));
  for (int index = 0; index < 3; ++index) CHECK(board->matched[index] == 3);
  board->leave = true;
  CHECK(all_ended(children));
  CHECK(board->faults == 0);
  CHECK(driver.has(-1));  // it ends with its last application
}
