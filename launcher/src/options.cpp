#include "llamada/launcher/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "application_file.hpp"
#include "option_specs.hpp"

namespace llamada::launcher {
namespace {

/// Splits "--name=value"; "-x" keeps its '=', which belongs to its value.
struct Written {
  std::string_view name;
  std::optional<std::string> value;
};

Written split_option(std::string_view argument) {
  argument.remove_prefix(argument.substr(0, 2) == "--" ? 2 : 1);
  const std::size_t equals = argument.find('=');
  if (equals == argument.npos) return {argument, std::nullopt};
  return {argument.substr(0, equals), std::string(argument.substr(equals + 1))};
}

bool is_option(const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; }

/// Reads one option at `at` and moves behind its values.
Status read_option(std::span<const std::string> arguments, std::size_t& at, Options& options) {
  const std::string& argument = arguments[at++];
  const Written written = split_option(argument);
  const Spec* spec = find_spec(written.name);
  if (spec == nullptr)
    return failure(Errc::invalid_argument, "there is no option '{}'; mpirun --help lists all options",
                   argument);
  std::vector<std::string> values;
  if (written.value && spec->value_count == 0)
    return failure(Errc::invalid_argument, "the option '{}' takes no value", argument);
  if (written.value) values.push_back(*written.value);
  while (values.size() < spec->value_count) {
    if (at == arguments.size())
      return failure(Errc::invalid_argument, "the option '{}' needs {} value{}", argument, spec->value_count,
                     spec->value_count == 1 ? "" : "s");
    values.push_back(arguments[at++]);
  }
  return spec->apply(options, values);
}

Status check_ranks_of_injections(const Options& options) {
  for (const InjectRule& rule : options.injections)
    if (rule.target == InjectTarget::rank && rule.rank >= options.rank_count)
      return failure(Errc::invalid_argument, "--inject '{}': the job has only the ranks 0 to {}", rule.text,
                     options.rank_count - 1);
  return {};
}

Status read_environment(const Environment& environment, Options& options) {
  if (auto qos = environment("LLAMADA_QOS"); qos && !qos->empty()) options.qos = *qos;
  for (const auto& [variable, option] :
       {std::pair("MPIEXEC_TIMEOUT", "timeout"), std::pair("LLAMADA_ON_DEADLOCK", "on-deadlock")})
    if (auto value = environment(variable); value && !value->empty())
      if (auto status = find_spec(option)->apply(options, {*value}); !status)
        return tl::unexpected<Error>(status.error().within(variable));
  return {};
}

/// Reads the options and the program up to the next ':' and moves behind it.
Status read_part(std::span<const std::string> arguments, std::size_t& at, Options& options) {
  while (at < arguments.size() && is_option(arguments[at])) {
    if (arguments[at] == "--") {
      ++at;
      break;
    }
    if (auto status = read_option(arguments, at, options); !status) return status;
    if (options.action != Action::run) return {};
  }
  const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = std::find(begin, arguments.end(), ":");
  options.command.assign(begin, end);
  at = static_cast<std::size_t>(end - arguments.begin()) + (end != arguments.end());
  // Each process can execute itself.
  if (options.command.empty() && options.nodes.only_checked) options.command = {"/proc/self/exe"};
  if (options.command.empty())
    return failure(Errc::invalid_argument,
                   "no program is given; for example, mpirun -n 4 ./a.out runs a.out on four ranks");
  return {};
}

Part part_of(const Options& options) {
  return {options.rank_count, options.working_directory, options.variables, options.command};
}

/// The programs behind the first ':'. What they say of the whole job (a profile, a time limit) holds for it.
Status read_further_parts(std::span<const std::string> arguments, std::size_t& at, Options& options) {
  if (at == arguments.size()) return {};
  const Part first = part_of(options);
  std::vector<Part> parts{first};
  std::uint32_t rank_count = first.rank_count;
  while (at < arguments.size()) {
    options.rank_count = 1;
    options.working_directory = first.working_directory;
    options.variables = first.variables;
    if (auto status = read_part(arguments, at, options); !status) return status;
    if (options.action != Action::run) return {};
    parts.push_back(part_of(options));
    rank_count += options.rank_count;
  }
  if (rank_count > rank_count_max)
    return failure(Errc::invalid_argument, "a job has at most {} ranks, not {}", rank_count_max, rank_count);
  options.rank_count = rank_count;
  options.working_directory = first.working_directory;
  options.variables = first.variables;
  options.command = first.command;
  options.parts = std::move(parts);
  return {};
}

/// A single program without -n runs on as many ranks as Slurm has planned tasks.
Status take_task_count(const Environment& environment, Options& options) {
  if (options.has_rank_count || !options.parts.empty()) return {};
  const auto count = environment("SLURM_NTASKS");
  if (!count || count->empty()) return {};
  if (auto status = find_spec("n")->apply(options, {*count}); !status)
    return tl::unexpected<Error>(status.error().within("SLURM_NTASKS"));
  return {};
}

/// The arguments with those of the file of -configfile or --app in place of that option, which is the last.
Result<std::vector<std::string>> with_application_file(std::span<const std::string> arguments) {
  std::vector<std::string> all(arguments.begin(), arguments.end());
  std::size_t at = 0;
  while (at < all.size() && is_option(all[at]) && all[at] != "--") {
    const Written written = split_option(all[at]);
    const Spec* spec = find_spec(written.name);
    if (spec == nullptr) break;
    const std::size_t behind = at + 1 + spec->value_count - (written.value && spec->value_count > 0 ? 1 : 0);
    if (!spec->is_application_file) {
      at = behind;
      continue;
    }
    if (behind != all.size())
      return failure(Errc::invalid_argument, "'{}' and its file must be the last arguments", all[at]);
    auto words = read_application_file(written.value ? *written.value : all[at + 1]);
    if (!words) return propagate(words);
    all.resize(at);
    all.insert(all.end(), words->begin(), words->end());
    break;
  }
  return all;
}

}  // namespace

Result<Options> parse_options(std::span<const std::string> given, const Environment& environment) {
  auto expanded = with_application_file(given);
  if (!expanded) return propagate(expanded);
  const std::span<const std::string> arguments = *expanded;
  Options options;
  options.words.assign(given.begin(), given.end());
  if (auto status = read_environment(environment, options); !status) return propagate(status);
  std::size_t at = 0;
  if (auto status = read_part(arguments, at, options); !status) return propagate(status);
  if (options.action != Action::run) return options;
  if (auto status = read_further_parts(arguments, at, options); !status) return propagate(status);
  if (auto status = take_task_count(environment, options); !status) return propagate(status);
  if (auto status = check_ranks_of_injections(options); !status) return propagate(status);
  return options;
}

Result<Options> parse_options_of_resumed(std::span<const std::string> arguments,
                                         std::span<const std::string> further,
                                         const Environment& environment) {
  auto options = parse_options(arguments, environment);
  if (!options) return options;
  options->injections.clear();
  for (std::size_t at = 0; at < further.size();) {
    const std::string& word = further[at];
    if (!is_option(word))
      return failure(Errc::invalid_argument,
                     "'{}' is not an option: a resumed job runs the program that it was started with", word);
    const Spec* const spec = find_spec(split_option(word).name);
    for (const char* fixed : {"n", "qos", "wdir", "env", "x", "usize"})
      if (spec == find_spec(fixed))
        return failure(Errc::invalid_argument, "the option '{}' cannot be changed when a job is resumed",
                       word);
    if (spec == find_spec("host") || spec == find_spec("hostfile")) options->nodes.host_lists.clear();
    if (auto status = read_option(further, at, *options); !status) return propagate(status);
  }
  if (auto status = check_ranks_of_injections(*options); !status) return propagate(status);
  return options;
}

std::optional<std::string> own_variable(std::string_view name) {
  const char* const value = getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string help_text() {
  return R"(Usage: mpirun [options] program [arguments]

  -n N, -np N            start N ranks (without it 1, or the number of tasks of a Slurm job)
  --qos NAME|FILE.xml[:Library::Profile]
                         use this QoS profile (without it LLAMADA_QOS, or default)
  --set NAME=VALUE       change a setting of the library, such as llamada_eager_bytes_max=16KiB; may be
                         repeated (llamada qos check lists all settings with their values)
  -H, --host A:2,B       run the ranks on these hosts, with so many slots on each (without it the hosts
                         of Slurm's allocation, or this machine)
  -f, --hostfile FILE    read the hosts from a file: "A slots=2 max-slots=4" or "A:2" on each line
  --map-by slot|node     fill one host after another (slot), or give each host a rank in turn (node)
  --oversubscribe        allow more ranks than the hosts have slots
  --spares N             start no ranks on the last N hosts: they replace nodes that are lost, with
                         DURABILITY TRANSIENT or PERSISTENT (without it, hosts that have no ranks do)
  --launcher ssh|srun|fork, --launcher-exec PROGRAM
                         start processes on other hosts with this program, called as PROGRAM HOST
                         COMMAND... (without it srun in a Slurm job, otherwise ssh)
  --link auto|udp|ethernet
                         send messages between nodes by this link (auto: raw Ethernet if all nodes have
                         it, otherwise UDP)
  --check-nodes          test the hosts and the links between them, and run nothing
                         (llamada doctor --nodes does the same)
  --timeout SECONDS      end the job after this time with exit code 124 (without it MPIEXEC_TIMEOUT)
  --kill-after SECONDS   kill the ranks that still run this long after SIGTERM (without it 30)
  --on-deadlock report|end
                         when ranks wait for each other forever, print a message and go on (report), or
                         end the job with exit code 119 (end) (without it LLAMADA_ON_DEADLOCK, or report)
  -l, --tag-output       begin each line of output with its rank, and with its node if there are several
  -prepend-pattern TEXT  begin each line of output with this text: %r is the rank, %h the host
  -outfile-pattern FILE, -errfile-pattern FILE
                         write the output, or the errors, of each rank to a file: %r is the rank, %h the
                         host
  --output-filename DIR[:nocopy]
                         write output also (nocopy: only) to DIR/1/rank.R/stdout and stderr
  -wdir DIRECTORY        run the ranks in this directory
  -path DIRECTORIES      look for programs there before PATH
  -env NAME VALUE, -genv NAME VALUE, -x NAME[=VALUE]
                         set a variable for the ranks
  -genvnone, -genvlist NAME,NAME
                         hand on none, or only these, of mpirun's own variables
  --bind-to none|hwthread|core|numa|socket, --map-by hwthread|core|numa|socket|slot
                         bind each rank to one of these (without it none); consecutive ranks take the
                         next one of what --map-by names
  --report-bindings      print which CPUs each rank may run on
  -stdin 0|none          give standard input to rank 0 (the default), or to no rank
  -print-all-exitcodes   print the exit code of each rank at the end
  -usize N               set the value of MPI_UNIVERSE_SIZE
  -configfile FILE, --app FILE
                         read the job's programs from a file, one line each with its options
  --store DIRECTORY      keep here the record of a job with DURABILITY PERSISTENT, while it runs, and the
                         checkpoints of any job (without it LLAMADA_STORE, or ~/.local/state/llamada/jobs)
  --resume JOB           go on with a job whose record was kept and whose processes are all gone; must be
                         the first option (llamada job ls lists these jobs)
  --report FILE.json     write a report: deaths, replacements, counters
  --inject RULE          cause a failure, for tests; may be repeated (docs/injection.md has all rules):
                           'kill rank 2 after 1.5 s', 'kill rank 2 in MPI_Allreduce 7'
                           'kill any every ~5 s seed 7', 'stop rank 2 after 1 s for 3 s'
                           'slow rank 1 by 50 %', 'kill driver', 'kill node b after 2 s',
                           'memory full after 100 MiB of log'
  -v, --version, --help  print more; print the version; print this text
  program1 ... : [options] program2 ...
                         start several programs in one job; each has its own -n, -wdir and -env

  Also taken: -ppn, -N (slots of each host), --mca plm_rsh_agent PROGRAM; other --mca, -genvall.

Exit code:
  0          all ranks ended with 0
  128 + n    a rank died of signal n
  1 to 255   the first exit code of a rank that is not 0
  119        deadlock (--on-deadlock end)
  120        mpirun could not write output
  121        a rank has damaged memory of the MPI library
  122        a replacement did not repeat what its predecessor had done
  123        ranks can no longer be replaced (on_unprotected STOP)
  124        --timeout has expired
  125        mpirun failed
  126, 127   the program cannot be executed; the program does not exist
)";
}

}  // namespace llamada::launcher
