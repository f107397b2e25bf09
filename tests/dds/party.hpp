#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "llamada/llamanet/inspector.hpp"
#include "support.hpp"

// Processes that share a driver of their own, which their parent kills. The parent has no participant and no
// thread, so that it may fork.

namespace dds_test {

/// The number of samples so far of one writer, for one key.
struct Step {
  std::int32_t writer = 0;
  std::int32_t key = 0;
  std::int64_t number = 0;
};
LLAMADA_TYPE(Step, LLAMADA_KEY(writer), LLAMADA_KEY(key), number);

inline constexpr int writers_max = 4;

/// What all processes see of each other beside the topics.
struct Board {
  std::atomic<bool> stop{false};
  std::atomic<bool> leave{false};
  std::array<std::atomic<std::int64_t>, writers_max> written{};
  std::array<std::atomic<std::int64_t>, writers_max> read{};
  std::array<std::atomic<std::int32_t>, writers_max> matched{};
  std::atomic<int> faults{0};

  std::int64_t written_by_all() const {
    std::int64_t all = 0;
    for (const auto& each : written) all += each.load();
    return all;
  }
};

/// A Board in memory that children of fork() share.
class SharedBoard {
 public:
  SharedBoard()
      : board_(new (::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                   Board) {}
  ~SharedBoard() { ::munmap(board_, sizeof(Board)); }
  Board* operator->() const { return board_; }
  Board& operator*() const { return *board_; }

 private:
  Board* board_;
};

/// Says what is wrong, and counts it.
inline void fault(Board& board, const std::string& what) {
  std::fprintf(stderr, "process %d: %s\n", ::getpid(), what.c_str());
  ++board.faults;
}

/// Whether all that one reader takes is there, once and in the order of each writer.
class Ledger {
 public:
  explicit Ledger(Board& board) : board_(board) {}

  void take_from(dds::sub::DataReader<Step>& reader) {
    for (const auto& sample : reader.take()) {
      if (!sample.info().valid()) continue;
      const Step& step = sample.data();
      std::int64_t& next = next_[{step.writer, step.key}];
      if (step.number != next)
        fault(board_, fmt::format("sample {} of writer {}, key {}; {} is next", step.number, step.writer,
                                  step.key, next));
      next = step.number + 1;
      ++count_;
    }
  }
  std::int64_t count() const { return count_; }

 private:
  Board& board_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> next_;
  std::int64_t count_ = 0;
};

/// A participant with a writer and a reader of all steps.
struct Party {
  dds::domain::DomainParticipant participant{0};
  dds::topic::Topic<Step> topic{participant, "steps"};
  dds::pub::Publisher publisher{participant};
  dds::sub::Subscriber subscriber{participant};
  dds::pub::DataWriter<Step> writer{publisher, topic, durable(publisher.default_datawriter_qos())};
  dds::sub::DataReader<Step> reader{subscriber, topic, durable(subscriber.default_datareader_qos())};
};

/// Runs `body` in a child of fork(); what it throws is a fault.
inline pid_t in_child(Board& board, const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(120);
  try {
    body();
  } catch (const std::exception& error) {
    fault(board, error.what());
  }
  ::_exit(0);
}

/// True: they have all ended by themselves.
inline bool all_ended(const std::vector<pid_t>& children) {
  bool well = true;
  for (const pid_t child : children) {
    int status = 0;
    well = ::waitpid(child, &status, 0) == child && WIFEXITED(status) && well;
  }
  return well;
}

/// A name space of the test's own, and the driver in it.
class OwnDriver {
 public:
  OwnDriver() : before_(std::getenv("LLAMADA_NAMESPACE")) {
    ::setenv("LLAMADA_NAMESPACE", unique("driver").c_str(), 1);
  }
  ~OwnDriver() { ::setenv("LLAMADA_NAMESPACE", before_.c_str(), 1); }

  llamada::Result<llamada::llamanet::Inspector> look() const {
    auto found = llamada::llamanet::find_drivers(::geteuid());
    if (!found) return propagate(found);
    if (found->names.empty()) return failure(llamada::Errc::not_found, "there is no driver");
    return llamada::llamanet::Inspector::open(found->names[0], std::chrono::seconds(60));
  }
  /// How many applications are attached; -1: there is no driver.
  int applications() const {
    const auto seen = look();
    if (!seen) return -1;
    int count = 0;
    for (const auto& slot : seen->slots()) count += slot.state == llamada::llamanet::SlotState::attached;
    return count;
  }
  bool has(int applications) const {
    return eventually([&] { return this->applications() == applications; });
  }
  /// Which process it is; waits until there is one.
  pid_t pid() const {
    pid_t found = 0;
    (void)eventually([&] {
      if (const auto seen = look()) found = static_cast<pid_t>(seen->pid());
      return found != 0;
    });
    return found;
  }
  /// Kills it, and waits until its name is free: the next one that is found is another one.
  void kill() const {
    const pid_t victim = pid();
    if (victim != 0) ::kill(victim, SIGKILL);
    (void)eventually([&] {
      const auto seen = look();
      return !seen || static_cast<pid_t>(seen->pid()) != victim;
    });
  }

 private:
  std::string before_;
};

}  // namespace dds_test
