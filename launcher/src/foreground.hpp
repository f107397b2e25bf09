#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "child_watch.hpp"
#include "event_loop.hpp"
#include "line_merger.hpp"
#include "llamada/launcher/last_word.hpp"
#include "llamada/launcher/options.hpp"
#include "message_link.hpp"
#include "output_files.hpp"

namespace llamada::launcher {

/// What the part of mpirun that a person sees is given. All signals are blocked.
struct ForegroundPlan {
  const Options& options;
  FileDescriptor control;  ///< mpirun's end of the socket to llamanetd
  pid_t guardian = 0;
  LastWord last_word;
  control::Start job;
  OutputFiles files;
};

/// What became of the job.
struct ForegroundResult {
  int exit_code = 0;
  std::string report;
};

/// The part of mpirun that a person sees: standard input, output, signals, the time limit. One thread.
class Foreground {
 public:
  explicit Foreground(ForegroundPlan plan);
  /// Runs the job to its end, until no process of it is left.
  ForegroundResult run();

 private:
  /// One of our own output streams, and what waits to be written to it.
  struct Sink {
    int descriptor;
    LineMerger lines;
    std::string waiting;
    bool watched = false;
    bool broken = false;
  };

  void take(control::Message message);
  void take_world(const control::World& world);
  void take_output(const control::Output& output);
  void confirm_output();
  void take_notice(const std::string& text);
  void write_some(Sink& sink);
  void flush_later(Sink& sink);
  bool write_everything();
  void read_input();
  void allow_input();
  void end_input();
  void write_file(const control::Output& output);
  void fail_file(const Error& error);
  void cannot_write(Sink& sink, int error);
  ForegroundResult with_lost_output(ForegroundResult result);
  void take_signal(int number);
  bool repeats_the_last(int number) const;
  void end_after_grace(int number);
  void stop_for_a_while(int number);
  void force_end_later(int exit_code);
  void end_without_guardian();
  void timed_out();

  EventLoop loop_;
  const Options& options_;
  pid_t guardian_;
  LastWord last_word_;
  ChildWatch guardian_watch_;
  std::unique_ptr<ControlLink> link_;
  Sink sinks_[2];
  OutputFiles files_;
  bool confirms_output_ = false;  ///< llamanetd is told what is shown
  /// Bytes of a rank's stream that are not confirmed.
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint64_t> unconfirmed_;
  std::uint64_t input_in_flight_ = 0;
  bool input_ended_ = false;
  bool flush_pending_ = false;
  bool file_failed_ = false;
  int ending_signals_ = 0;  ///< how many signals have come by which a user ends a job
  int ending_signal_ = 0;   ///< the last of them
  std::chrono::steady_clock::time_point ending_signal_at_;
  bool forcing_ = false;
  bool output_lost_ = false;
  std::optional<ForegroundResult> finished_;
  std::optional<ForegroundResult> forced_;  ///< what mpirun ended without llamanetd
  bool guardian_gone_ = false;
  int guardian_status_ = 0;
};

}  // namespace llamada::launcher
