#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/inject.hpp"
#include "llamada/launcher/links.hpp"
#include "llamada/launcher/placement.hpp"
#include "llamada/qos/tuning.hpp"

namespace llamada::launcher {

/// Most ranks of a job.
inline constexpr std::uint32_t rank_count_max = 4096;

/// What -l puts before each line.
inline constexpr const char* rank_label = "[%r] ";

enum class Action { run, show_help, show_version };

/// What CPUs belong together. In --bind-to: what a rank may run on; in --map-by: what consecutive ranks take
/// in turn.
enum class CpuLevel { none, hwthread, core, numa, socket };

/// Which variables of mpirun's own environment the ranks get.
enum class Inheritance { all, none, listed };

/// A variable for the ranks: set to a value, or, without one, handed on from mpirun's own environment (it is
/// anyway).
struct Variable {
  std::string name;
  std::string value;
  bool operator==(const Variable&) const = default;
};

/// One program of a job of several, between two ':'.
struct Part {
  std::uint32_t rank_count = 1;
  std::optional<std::string> working_directory;
  std::vector<Variable> variables;
  std::vector<std::string> command;
};

/// On which hosts the ranks are to run, and how these are reached.
struct NodeOptions {
  std::vector<std::vector<HostEntry>> host_lists;  ///< of each --host and host file; empty: this machine
  HostOrder order = HostOrder::by_slot;
  bool oversubscribe = false;
  std::optional<std::uint32_t> ranks_per_node;
  std::string launcher;  ///< "ssh", "srun", "fork"; empty: launcher_exec; srun in a job of Slurm; ssh
  LinkWish link = LinkWish::automatic;
  bool only_checked = false;      ///< --check-nodes: no rank runs
  std::uint32_t spare_count = 0;  ///< --spares: so many hosts at the end of the list get no ranks
  std::string launcher_exec;  ///< mpirun calls it in place of ssh: PROGRAM HOST COMMAND…; empty: see launcher
};

/// A job whose ranks another launcher has started.
struct AdoptedJob {
  std::string processes;                    ///< of this node, for parse_adopted()
  std::vector<std::string> hosts;           ///< by node; this one is the first
  std::vector<std::uint32_t> node_of_rank;  ///< by rank
  int report = -1;                          ///< the descriptors of Adoption
  int manager = -1;
};

/// What a person wrote on mpirun's command line, and what the environment says where the command line says
/// nothing.
struct Options {
  Action action = Action::run;
  std::uint32_t rank_count = 1;  ///< of the whole job
  bool has_rank_count = false;   ///< -n was given
  std::string qos = "default";
  qos::Tuning tuning;  ///< goes before the profile's
  std::optional<std::string> working_directory;
  std::vector<Variable> variables;
  std::vector<InjectRule> injections;
  std::optional<std::string> report_path;
  std::optional<std::chrono::nanoseconds> timeout;
  /// How long the ranks may go on after mpirun was sent SIGTERM. As batch systems do (Slurm's KillWait).
  std::chrono::nanoseconds kill_after = std::chrono::seconds(30);
  std::string line_prefix;  ///< before each line of output; %r stands for the rank, as in output_pattern
  bool ends_at_deadlock = false;  ///< else a deadlock is reported once, and the job goes on
  bool verbose = false;
  bool print_exit_codes = false;
  bool input_to_rank_0 = true;
  CpuLevel binding = CpuLevel::none;
  CpuLevel mapping = CpuLevel::none;  ///< none: as the binding
  bool report_bindings = false;
  NodeOptions nodes;
  Inheritance inheritance = Inheritance::all;
  std::vector<std::string> inherited;  ///< the names, when they are listed
  std::string program_path;            ///< folders to look for programs in before PATH, with ':' between them
  /// Files in place of mpirun's standard output and standard error, one a rank: %r stands for the rank, %h
  /// for the host, %g and %p for 0. Empty: mpirun's own.
  std::string output_pattern;
  std::string error_pattern;
  /// Below it 1/rank.R/stdout and stderr are written; empty: nothing is.
  std::string output_folder;
  bool output_also_shown = true;  ///< with an output_folder
  std::optional<std::uint32_t> universe_size;
  bool universe_is_system = false;  ///< on several hosts it is the number of their slots
  /// The program and its arguments; not empty when the action is run.
  std::vector<std::string> command;
  /// The programs of a job of several, the first of which is also `command`; empty when there is one. The
  /// variables and the working directory of the first are those of Options; the others begin with these and
  /// add their own.
  std::vector<Part> parts;
  /// One sentence for each option that was accepted and does nothing here.
  std::vector<std::string> warnings;
  std::string store;  ///< where jobs with DURABILITY PERSISTENT are kept; empty: see job_store_directory()
  std::vector<std::string> words;     ///< all that they were read from
  std::optional<AdoptedJob> adopted;  ///< by no option: see options_of_adopted()
};

/// The value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;
/// That of this process.
std::optional<std::string> own_variable(std::string_view name);

/// Reads the arguments behind argv[0]. Takes the options that users of MPICH and of Open MPI write, in both
/// spellings (docs/mpirun.md). Errc::invalid_argument or Errc::unsupported with a sentence that names the
/// option.
Result<Options> parse_options(std::span<const std::string> arguments, const Environment& environment);

/// The same for a job that is resumed: the arguments that it was started with, with the options of `further`
/// behind them, and without its failures to inject. What `further` says of a program is an error.
Result<Options> parse_options_of_resumed(std::span<const std::string> arguments,
                                         std::span<const std::string> further,
                                         const Environment& environment);

/// What the first rank of a job writes behind argv[0] whose ranks another launcher has started:
/// adopt_ranks_word, the number of ranks, AdoptedJob::processes, the hosts and the node of each rank with
/// commas between them, two descriptors, and the program. Errors: parse_error, and those of parse_options().
Result<Options> options_of_adopted(std::span<const std::string> words, const Environment& environment);
inline constexpr const char* adopt_ranks_word = "--adopt-ranks";

/// What --help prints.
std::string help_text();

}  // namespace llamada::launcher
