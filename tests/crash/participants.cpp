#include "participants.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>

#include "llamada/base/crash_point.hpp"
#include "test.hpp"

namespace llamada::crash {
namespace {

/// After this nobody can be said to be merely slow.
constexpr auto watchdog = std::chrono::seconds(60);

class Parties {
 public:
  explicit Parties(Kind kind)
      : kind_(kind),
        driver_(open_driver()),
        board_(static_cast<PartyBoard*>(::mmap(nullptr, sizeof(PartyBoard), PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Parties() {
    for (pid_t process : processes_) {
      if (process == 0) continue;
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
    ::munmap(board_, sizeof(PartyBoard));
  }
  Parties(const Parties&) = delete;
  Parties& operator=(const Parties&) = delete;

  PartyOutcome run(std::uint32_t victim, const std::string& point, std::uint64_t count) {
    for (std::uint32_t party = 0; party < party_count; ++party)
      start(party, party == victim ? point : "", count);
    const auto end = std::chrono::steady_clock::now() + watchdog;
    while (collect() && outcome_.error.empty()) {
      driver_.poll(std::chrono::milliseconds(1));
      if (std::chrono::steady_clock::now() > end)
        outcome_.error = "somebody waits for ever: " + still_there();
    }
    if (outcome_.error.empty()) judge(victim);
    for (std::uint32_t party = 0; party < party_count; ++party)
      outcome_.passes[party] = passes_in(board_->points[party]);
    return outcome_;
  }

 private:
  static llamanet::Driver open_driver() {
    static int last = 0;
    llamanet::DriverOptions options;
    options.name = fmt::format("parties-{}-{}", ::getpid(), ++last);
    options.on_demand = true;
    options.slot_count_max = 8;
    options.arena_size_bytes = 64 << 20;
    auto driver = llamanet::Driver::open(options);
    REQUIRE(driver);
    return std::move(*driver);
  }

  static PartyPasses passes_in(const char* text) {
    PartyPasses passes;
    std::istringstream lines(text);
    std::string name;
    for (std::uint64_t count; lines >> name >> count;) passes[name] = count;
    return passes;
  }

  void start(std::uint32_t party, const std::string& point, std::uint64_t count) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!point.empty()) arm_crash_point(point, count);
      run_party(kind_, party, driver_.socket_name(), *board_);
    }
    processes_[party] = child;
  }

  /// Takes note of who has ended; whether somebody has not.
  bool collect() {
    bool any_left = false;
    for (std::uint32_t party = 0; party < party_count; ++party) {
      int status = 0;
      if (processes_[party] != 0 && ::waitpid(processes_[party], &status, WNOHANG) == processes_[party]) {
        processes_[party] = 0;
        ended(party, status);
      }
      any_left |= processes_[party] != 0;
    }
    return any_left;
  }

  void ended(std::uint32_t party, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      outcome_.victim_died = true;
      board_->victim_is_dead = party + 1;
      return;
    }
    outcome_.error = board_->error[party][0] != 0
                         ? std::string(board_->error[party])
                         : fmt::format("party {} ended with wait status {:#x}", party, status);
  }

  std::string still_there() const {
    std::string text;
    for (std::uint32_t party = 0; party < party_count; ++party)
      if (processes_[party] != 0) text += fmt::format("party {} ", party);
    for (std::uint32_t reader = writer_count; reader < party_count; ++reader)
      for (std::uint32_t writer = 0; writer < writer_count; ++writer)
        text +=
            fmt::format("({} has {} of {}) ", reader, board_->readers[reader].last[writer].load(), writer);
    return text;
  }

  /// Every reader that lived on has all of each writer that did, and of a dead one as much as the other
  /// reader.
  void judge(std::uint32_t victim) {
    for (std::uint32_t reader = writer_count; reader < party_count; ++reader) {
      if (outcome_.victim_died && reader == victim) continue;
      for (std::uint32_t writer = 0; writer < writer_count; ++writer)
        judge(reader, writer, outcome_.victim_died && writer == victim);
    }
  }

  void judge(std::uint32_t reader, std::uint32_t writer, bool writer_died) {
    const auto& notes = board_->readers[reader];
    const auto last = notes.last[writer].load();
    if (!writer_died && last != samples_each)
      outcome_.error =
          fmt::format("reader {} has {} samples of writer {}, who lived on", reader, last, writer);
    if (!writer_died && notes.died[writer] != 2)
      outcome_.error = fmt::format("reader {} was not told that writer {} has left", reader, writer);
    if (!writer_died) return;
    const auto others =
        board_->readers[reader == writer_count ? reader + 1 : writer_count].last[writer].load();
    if (last != others)
      outcome_.error =
          fmt::format("of dead writer {} one reader has {} samples, the other {}", writer, last, others);
    // One that had written all may have said that it leaves, before it died.
    const bool told = notes.died[writer] == 1 || (last == samples_each && notes.died[writer] == 2);
    if (last > 0 && !told)
      outcome_.error = fmt::format("reader {} was not told that writer {} has died", reader, writer);
  }

  const Kind kind_;
  llamanet::Driver driver_;
  PartyBoard* board_;
  std::array<pid_t, party_count> processes_{};
  PartyOutcome outcome_;
};

}  // namespace

PartyOutcome run_parties(Kind kind, std::uint32_t victim, const std::string& point, std::uint64_t count) {
  return Parties(kind).run(victim, point, count);
}

}  // namespace llamada::crash
