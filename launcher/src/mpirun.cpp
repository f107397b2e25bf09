#include "llamada/launcher/mpirun.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <span>

#include "checkpoint_directory.hpp"
#include "descriptor_limit.hpp"
#include "foreground.hpp"
#include "installation.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/guardian.hpp"
#include "llamada/launcher/job_number.hpp"
#include "llamada/launcher/kept_jobs.hpp"
#include "llamada/launcher/report.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "llamada/qos/serialization.hpp"
#include "llamada/qos_xml/profile_file.hpp"
#include "node_plan.hpp"
#include "own_addresses.hpp"
#include "parts.hpp"
#include "process_watch.hpp"
#include "program_calls.hpp"
#include "rank_environment.hpp"
#include "resume.hpp"

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

/// What mpirun found before it starts anything.
struct Preparation {
  Installation installation;
  control::Start job;
};

int exit_code_of(Errc code) {
  if (code == Errc::not_found) return exit_not_found;
  return code == Errc::permission_denied ? exit_not_executable : exit_launcher;
}

/// A failure and the exit code it means.
struct Refusal {
  Error error;
  int exit_code;
};

bool is_handed_on(const Options& options, std::string_view entry) {
  if (options.inheritance == Inheritance::all) return true;
  if (options.inheritance == Inheritance::none) return false;
  for (const std::string& name : options.inherited)
    if (entry.starts_with(name + "=")) return true;
  return false;
}

/// Our environment without what belongs to a job that we may be a part of, and with what the user sets.
std::vector<std::string> environment_for_ranks(const Options& options) {
  std::vector<std::string> environment;
  const auto is_set_anew = [&](std::string_view entry) {
    for (const Variable& variable : options.variables)
      if (entry.starts_with(variable.name + "=")) return true;
    for (const char* ours :
         {"LLAMADA_DRIVER=", "LLAMADA_RANK=", "LLAMADA_SIZE=", "LLAMADA_TOKEN=", "LLAMADA_RECORD=",
          "LLAMADA_APPNUM=", "LLAMADA_UNIVERSE_SIZE=", "LLAMADA_FIRST="})
      if (entry.starts_with(ours)) return true;
    return false;
  };
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_set_anew(*entry) && is_handed_on(options, *entry)) environment.emplace_back(*entry);
  if (options.universe_size)
    environment.push_back(fmt::format("LLAMADA_UNIVERSE_SIZE={}", *options.universe_size));
  for (const Variable& variable : options.variables)
    environment.push_back(variable.name + "=" + variable.value);
  return environment;
}

bool injects_at_step(const Options& options) {
  for (const InjectRule& rule : options.injections)
    if (rule.trigger == InjectTrigger::at_step) return true;
  return false;
}

Status check_injections(const Options& options, const Installation& installation, const qos::Profile& profile,
                        const IsMpiFunction& is_mpi_function) {
  for (const InjectRule& rule : options.injections) {
    if (auto status = check_function(rule, is_mpi_function); !status) return status;
    if (auto status = check_has_log(rule, profile, options.qos); !status) return status;
  }
  if (injects_at_step(options) && installation.crash_point_library_directory.empty())
    return failure(Errc::unsupported,
                   "--inject '… at step …' needs lib/crash-points/libmpi.so.12, a build with crash points, "
                   "which this installation does not have");
  return {};
}

/// A replacement must be laid out in memory as its predecessor was: the one has no say in how the other's
/// launcher starts a process.
Status check_adopted(const Options& options, const qos::Profile& profile) {
  if (qos::survivors_go_on(profile.rank_replacement))
    return failure(Errc::unsupported,
                   "the profile '{}' lets ranks outlive others, which works only if mpirun starts the ranks: "
                   "use mpirun (in a Slurm allocation: mpirun {}), or name another profile in LLAMADA_QOS",
                   options.qos, options.command[0]);
  if (!qos::rank_protection(profile).records_outcomes) return {};
  return failure(Errc::unsupported,
                 "the profile '{}' replaces ranks that die, which works only if mpirun starts the ranks: use "
                 "mpirun (in a Slurm allocation: mpirun {}), or name another profile in LLAMADA_QOS",
                 options.qos, options.command[0]);
}

/// This node is the first.
NodePlan plan_of(const AdoptedJob& adopted) {
  NodePlan plan;
  if (adopted.hosts.size() == 1) return plan;
  for (const std::string& host : adopted.hosts) plan.nodes.push_back({host, {"another launcher"}});
  plan.nodes[0].agent.clear();
  plan.node_of_rank = adopted.node_of_rank;
  return plan;
}

Result<NodePlan> plan_of(const Options& options, const PlanningHost& here, bool may_spawn) {
  return options.adopted ? plan_of(*options.adopted) : plan_nodes(options, here, may_spawn);
}

PlanningHost own_host(const std::string& path, const Installation& installation) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  const auto text = [](const char* variable_name) { return own_variable(variable_name).value_or(""); };
  return {name,
          own_addresses(),
          path,
          installation.llamanetd.string(),
          {text("SLURM_JOB_NODELIST"), text("SLURM_TASKS_PER_NODE"), text("SLURM_JOB_CPUS_PER_NODE"),
           text("SLURMD_NODENAME")}};
}

std::uint64_t slots_of_all(const std::vector<control::Node>& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const control::Node& node) { return sum + node.slots; });
}

std::variant<Preparation, Refusal> prepare(const Options& options, const KeptJob* kept,
                                           const IsMpiFunction& is_mpi_function) {
  const auto refuse = [](const Error& error, int code) { return Refusal{error, code}; };
  auto installation = find_installation();
  if (!installation) return refuse(installation.error(), exit_launcher);
  std::vector<std::string> warnings;
  auto profile = qos::find_profile(options.qos, installation->profile_directories, &warnings);
  if (!profile) return refuse(profile.error(), exit_launcher);
  for (const std::string& warning : warnings) std::fprintf(stderr, "mpirun: warning: %s\n", warning.c_str());
  if (auto status = qos::check_for_ranks(*profile); !status) return refuse(status.error(), exit_launcher);
  if (options.adopted)
    if (auto status = check_adopted(options, *profile); !status) return refuse(status.error(), exit_launcher);
  profile->tuning.put_over(options.tuning);
  if (auto status = qos::check_consistent(profile->tuning); !status)
    return refuse(status.error().within("--set"), exit_launcher);
  if (auto status = check_injections(options, *installation, *profile, is_mpi_function); !status)
    return refuse(status.error(), exit_launcher);
  auto directory = directory_for_ranks(options.working_directory);
  if (!directory) return refuse(directory.error(), exit_launcher);
  std::string path = own_variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  if (!options.program_path.empty()) path = options.program_path + ":" + path;
  auto program = find_program(options.command[0], path, *directory);
  if (!program) return refuse(program.error(), exit_code_of(program.error().code()));

  auto number = draw_job_number();
  if (!number) return refuse(number.error(), exit_launcher);

  control::Start job;
  job.rank_count = options.rank_count;
  job.job_number = *number;
  job.program = program->string();
  std::vector<std::string> programs{job.program};
  job.arguments = options.command;
  through_shell_if_needed(job.program, job.arguments);
  if (!options.parts.empty()) {
    auto parts = command_for_parts(options.parts, path);
    if (!parts) return refuse(parts.error(), exit_code_of(parts.error().code()));
    std::error_code ignored;
    job.program = fs::read_symlink("/proc/self/exe", ignored).string();
    job.arguments = std::move(parts->arguments);
    programs = std::move(parts->programs);
  }
  job.environment = environment_for_ranks(options);
  const bool may_spawn = options.universe_is_system ||
                         options.universe_size.value_or(0) > options.rank_count ||
                         std::any_of(programs.begin(), programs.end(), names_spawn);
  auto plan = plan_of(options, own_host(path, *installation), may_spawn);
  if (!plan) return refuse(plan.error(), exit_launcher);
  job.nodes = std::move(plan->nodes);
  job.node_of_rank = std::move(plan->node_of_rank);
  job.spares = std::move(plan->spares);
  job.link = options.nodes.link;
  if (options.nodes.only_checked) {
    if (job.nodes.empty())
      return refuse({Errc::invalid_argument,
                     "no other host is named: give --host or --hostfile, or run the command in a Slurm job"},
                    exit_launcher);
    job.checks_nodes = 1;
    job.rank_count = static_cast<std::uint32_t>(job.node_of_rank.size());
  }
  if (options.universe_is_system && !job.nodes.empty())
    set_variable(job.environment, "LLAMADA_UNIVERSE_SIZE", std::to_string(slots_of_all(job.nodes)));
  job.deals_by_node = options.nodes.order == HostOrder::by_node ? 1 : 0;
  job.is_adopted = options.adopted.has_value();
  const bool starts_elsewhere = !job.nodes.empty() && !options.adopted;
  if (starts_elsewhere) job.programs = std::move(programs);
  // A llamanetd on another host stands elsewhere.
  if (options.working_directory || starts_elsewhere) job.working_directory = directory->string();
  job.profile = qos::serialize(*profile);
  job.profile_label = options.qos;
  for (const InjectRule& rule : options.injections) job.inject_rules.push_back(rule.text);
  job.crash_point_library_directory = installation->crash_point_library_directory.string();
  job.binding = static_cast<std::uint8_t>(options.binding);
  job.mapping = static_cast<std::uint8_t>(options.mapping);
  job.report_bindings = options.report_bindings;
  job.print_exit_codes = options.print_exit_codes;
  job.ends_at_deadlock = options.ends_at_deadlock ? 1 : 0;
  job.verbose = options.verbose;
  if (kept) {
    if (auto status = take_from(*kept, job); !status) return refuse(status.error(), exit_launcher);
  } else if (qos::rank_protection(*profile).outlives_job) {
    auto storing = storing_for(options, *number);
    if (!storing) return refuse(storing.error(), exit_launcher);
    job.storing = std::move(*storing);
  }
  if (!kept && qos::rank_protection(*profile).records_outcomes) {
    // Without one, the first checkpoint says so.
    if (const auto directory = directory_of_job(options, job.job_number))
      job.storing.checkpoints = *directory + checkpoint_suffix;
  }
  return Preparation{std::move(*installation), std::move(job)};
}

/// Standard descriptors that are closed would be given to what we open.
void open_standard_descriptors() {
  for (int descriptor = open("/dev/null", O_RDWR); descriptor >= 0; descriptor = open("/dev/null", O_RDWR)) {
    if (descriptor <= 2) continue;
    close(descriptor);
    return;
  }
}

/// llamanetd gets what belongs to adopted ranks. The first rank waits for the end of its pipe, so this
/// process keeps it open, too.
void hand_on(const AdoptedJob& adopted, GuardianPlan& plan) {
  FileDescriptor report(fcntl(adopted.report, F_DUPFD_CLOEXEC, 3)), manager(adopted.manager);
  for (const int each : {adopted.report, adopted.manager}) fcntl(each, F_SETFD, FD_CLOEXEC);
  plan.arguments.insert(plan.arguments.end(),
                        {"--adopt", adopted.processes, "--report-fd", std::to_string(report.get()),
                         "--manager-fd", std::to_string(manager.get())});
  plan.inherited.push_back(std::move(report));
  plan.inherited.push_back(std::move(manager));
}

Result<ForegroundResult> launch(const Options& options, const KeptJob* kept, Preparation preparation) {
  const rlimit original_limit = raise_descriptor_limit();
  if (options.report_path)
    if (auto status = check_report_path(*options.report_path); !status) return propagate(status);
  OutputFiles files(options, control::hosts_of_ranks(preparation.job));
  if (kept) files.keep(kept->shown);
  if (auto status = files.open_all(); !status) return propagate(status);
  sigset_t all, original;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &original);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return system_failure("PR_SET_CHILD_SUBREAPER");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_failure("socketpair");
  FileDescriptor ours(ends[0]);
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) return system_failure("pipe2");
  const FileDescriptor own_life(life[1]);
  auto last_word = LastWord::make();
  if (!last_word) return propagate(last_word);
  GuardianPlan plan{getpid(),
                    FileDescriptor(life[0]),
                    FileDescriptor(ends[1]),
                    preparation.installation.llamanetd.string(),
                    last_word->copy(),
                    original_limit,
                    original};
  if (options.adopted) hand_on(*options.adopted, plan);
  auto guardian = fork_guardian(std::move(plan), {ours.get(), own_life.get()});
  if (!guardian) return propagate(guardian);
  Foreground foreground({options, std::move(ours), *guardian, std::move(*last_word),
                         std::move(preparation.job), std::move(files)});
  return foreground.run();
}

int refuse(const Error& error, int exit_code) {
  say(fmt::format("mpirun: {}\n", error.text()));
  return exit_code;
}

int show(const std::string& text) {
  const bool written = fputs(text.c_str(), stdout) >= 0 && fflush(stdout) == 0;
  if (written) return 0;
  const Status failed = system_failure("standard output cannot be written");
  return refuse(failed.error(), exit_output);
}

int run_job(const Options& options, const KeptJob* kept, const IsMpiFunction& is_mpi_function) {
  const auto started = std::chrono::steady_clock::now();
  if (auto status = check_descriptors_of_mpirun(); !status) return refuse(status.error(), exit_launcher);
  auto prepared = prepare(options, kept, is_mpi_function);
  if (const auto* refusal = std::get_if<Refusal>(&prepared))
    return refuse(refusal->error, refusal->exit_code);
  for (const std::string& warning : options.warnings) say(fmt::format("mpirun: {}\n", warning));
  auto result = launch(options, kept, std::move(std::get<Preparation>(prepared)));
  if (!result) return refuse(result.error(), exit_launcher);
  if (!options.report_path) return result->exit_code;
  const double wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const auto written = write_report(*options.report_path, result->report, result->exit_code, wall_seconds);
  if (written) return result->exit_code;
  return refuse(written.error(), result->exit_code == 0 ? exit_output : result->exit_code);
}

/// mpirun --resume JOB [options].
int resume_job(std::span<const std::string> words, const IsMpiFunction& is_mpi_function) {
  if (words.empty())
    return refuse({Errc::invalid_argument, "--resume needs the number of a job; llamada job ls lists them"},
                  exit_launcher);
  auto job = find_resumable(words);
  if (!job) return refuse(job.error(), exit_launcher);
  auto options = options_of_resumed(*job, words.subspan(1));
  if (!options) return refuse(options.error(), exit_launcher);
  return run_job(*options, &*job, is_mpi_function);
}

}  // namespace

int run_mpirun(int argument_count, char** arguments, const IsMpiFunction& is_mpi_function) {
  open_standard_descriptors();
  // Where it is ignored, which is inherited, the kernel reaps children itself and does not tell how they
  // ended.
  signal(SIGCHLD, SIG_DFL);
  const std::vector<std::string> words(arguments + std::min(argument_count, 1), arguments + argument_count);
  if (!words.empty() && words[0] == become_part_word) return become_part({words.begin() + 1, words.end()});
  if (!words.empty() && (words[0] == "--resume" || words[0] == "-resume"))
    return resume_job(std::span(words).subspan(1), is_mpi_function);
  const bool adopts = !words.empty() && words[0] == adopt_ranks_word;
  auto options = adopts ? options_of_adopted(words, own_variable) : parse_options(words, own_variable);
  if (!options) return refuse(options.error(), exit_launcher);
  if (options->action == Action::show_help) return show(help_text());
  if (options->action == Action::show_version) return show("mpirun (Llamada) " LLAMADA_VERSION "\n");
  return run_job(*options, nullptr, is_mpi_function);
}

}  // namespace llamada::launcher
