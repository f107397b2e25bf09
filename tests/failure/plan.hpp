#pragma once

#include <signal.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/random.hpp"

namespace llamada::failures {

/// A program that can be started at any length, and what is known about it.
struct Workload {
  std::string name;               ///< the file, under samples/ or tests/failure/
  std::string kind;               ///< its -k, or empty
  bool sample = false;            ///< lies under samples/
  bool has_determinants = false;  ///< some of its outcomes must be recorded and replayed
};

/// The arguments that make a workload `scale` times as long as its shortest form.
std::vector<std::string> arguments_of(const Workload& workload, int scale);

/// "wildcards -k probe", for tables and caches.
std::string label_of(const Workload& workload);

/// How a run must end.
enum class Expectation {
  right_answer,     ///< code 0, the output of a run without failures, everything replaced
  right_or_limit,   ///< the same, or an orderly end because a replacement limit is reached
  fault_reported,   ///< 128 + the signal, after exactly two deaths of rank 1
  diverged,         ///< "replay diverged", or the right answer when the victim had not sent anything
  own_will,         ///< the code that the program gave, and nothing replaced after it
  silent_replaced,  ///< the right answer, and a rank that was stopped for longer than its lease was replaced
  unharmed,         ///< the right answer, and nobody died
  launcher_lost,    ///< an end soon after, with a sentence, nothing left
  deadlock_named,   ///< code 119, and one deadlock that is named right
};

/// A process that the runner kills (or sends another signal) itself, at a time that is a fraction of the
/// measured run time.
struct TimedKill {
  enum class Victim {
    rank,
    mpirun,
    llamanetd,
    stopped,  ///< the ranks' processes that the runner has stopped, dead or alive
  };
  Victim victim = Victim::rank;
  int rank = 0;
  double fraction = 0;
  int signal = SIGKILL;      ///< for ranks and llamanetd
  double later_seconds = 0;  ///< after that fraction
};

/// A rule for mpirun --inject whose time, if it has one, is a fraction of the measured run time.
struct Rule {
  std::string before;    ///< "kill rank 2 after "
  double fraction = -1;  ///< negative: there is no time between before and behind
  std::string behind;    ///< "s of incarnation 2"
};

/// The text of a rule for a run of this length.
std::string text_of(const Rule& rule, double run_seconds);

/// Everything about a run that follows from its seed.
struct Plan {
  int row = 0;
  Workload workload;
  int ranks = 2;
  std::vector<Rule> rules;
  std::vector<TimedKill> kills;
  Expectation expectation = Expectation::right_answer;
  int exit_code = 0;                       ///< for fault_reported and own_will
  bool in_init = false;                    ///< kills count also before the victim's first send
  std::string profile = "fault-tolerant";  ///< for --qos
  double lease_seconds = 0;       ///< LIVELINESS AUTOMATIC with this lease, on top of fault-tolerant; 0: none
  std::vector<std::string> said;  ///< for deadlock_named
  bool needs_hit = true;          ///< a run in which no kill counted is repeated with other numbers
};

/// The rows of the failure matrix that are run here.
const std::vector<int>& all_rows();

/// One sentence about a row.
std::string_view title_of(int row);

/// Chooses program, ranks and kills of a run.
Plan make_plan(int row, Random& random);

}  // namespace llamada::failures
