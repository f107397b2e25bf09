#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llamada::dcps::test {

/// The persistence service as a child process, with a store that outlives it. Killed with its owner.
class Persistd {
 public:
  /// Not started yet.
  Persistd(std::string store, std::string socket_name);
  ~Persistd();
  Persistd(const Persistd&) = delete;
  Persistd& operator=(const Persistd&) = delete;

  /// Returns when topics are kept.
  void start();
  /// By SIGKILL; returns when it is gone.
  void kill();
  /// By SIGTERM; returns its exit code.
  int end();
  bool is_running() const { return pid_ > 0; }
  void send(int signal) const;
  /// What its processes have said up to now, if it was told to keep that in a file before it was started.
  void keep_words(std::string file) { words_ = std::move(file); }
  std::string said() const;
  /// Its store is of this kind: `--store-kind`.
  void choose_kind(std::string kind) { kind_ = std::move(kind); }

 private:
  std::string store_;
  std::string socket_name_;
  std::string words_;
  std::string kind_;
  pid_t pid_ = -1;
};

/// Starts a program that writes a byte to the descriptor of `option` when it is ready. Its process id.
/// `output`: where it writes both outputs; -1: to ours.
pid_t start_until_ready(std::vector<std::string> command, const std::string& option, int output = -1);

/// A place in a segment of a store where a sample with this key and value lies.
struct StoredReading {
  std::string file;
  std::size_t at = 0;
};
std::vector<StoredReading> stored_readings(const std::string& store, std::int32_t key, std::int32_t value);

/// Runs a program to its end: what it says on both outputs, and its exit code.
struct Ended {
  std::string text;
  int code = -1;
};
Ended run(const std::vector<std::string>& command);

}  // namespace llamada::dcps::test
