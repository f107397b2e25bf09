#include "llamada/launcher/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

namespace llamada::launcher {
namespace {

/// What an option does with its values.
using Apply = Status (*)(Options&, const std::vector<std::string>& values);

/// One option of mpirun. Names stand without their dashes: "-np" and "--np" are the same.
struct Spec {
  std::vector<std::string_view> names;
  std::size_t value_count;
  Apply apply;
};

Result<std::uint32_t> parse_count(std::string_view text, std::string_view what, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value == 0 || value > most)
    return failure(Errc::invalid_argument, "{} must be a number from 1 to {}, and '{}' is not", what, most,
                   text);
  return value;
}

Status set_rank_count(Options& options, const std::vector<std::string>& values) {
  auto count = parse_count(values[0], "the number of ranks (-n)", rank_count_max);
  if (!count) return propagate(count);
  options.rank_count = *count;
  return {};
}

Status set_timeout(Options& options, const std::vector<std::string>& values) {
  double seconds = 0;
  const auto& text = values[0];
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(seconds > 0 && seconds < 1e9))
    return failure(Errc::invalid_argument, "--timeout wants seconds above 0, and '{}' is not that", text);
  options.timeout = std::chrono::nanoseconds(std::llround(seconds * 1e9));
  return {};
}

bool is_this_machine(std::string_view host) {
  const std::string_view name = host.substr(0, host.find(':'));
  char own[256] = "";
  gethostname(own, sizeof own - 1);
  return name == "localhost" || name == "127.0.0.1" || host == "::1" || name == own;
}

Status check_hosts(Options&, const std::vector<std::string>& values) {
  std::string_view rest = values[0];
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view host = rest.substr(0, comma);
    if (!is_this_machine(host))
      return failure(Errc::unsupported,
                     "ranks run on this machine only; the host '{}' cannot be used, 'localhost' can", host);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return {};
}

/// A line for each host: "h", "h:4", "h slots=4 max_slots=8"; '#' begins a comment.
Status check_host_file(Options& options, const std::vector<std::string>& values) {
  std::ifstream file(values[0]);
  if (!file) return failure(Errc::not_found, "the host file '{}' cannot be read", values[0]);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    if (auto status = check_hosts(options, {host}); !status)
      return tl::unexpected<Error>(status.error().within(values[0]));
  }
  return {};
}

Status check_name(std::string_view name) {
  if (name.empty() || name.find('=') != name.npos)
    return failure(Errc::invalid_argument, "'{}' is no name of an environment variable", name);
  return {};
}

Status set_variable(Options& options, const std::vector<std::string>& values) {
  if (auto status = check_name(values[0]); !status) return status;
  options.variables.push_back({values[0], values[1]});
  return {};
}

/// Open MPI's -x: NAME=VALUE, or NAME, which our ranks inherit anyway.
Status export_variable(Options& options, const std::vector<std::string>& values) {
  const std::size_t equals = values[0].find('=');
  if (equals == std::string::npos) return check_name(values[0]);
  return set_variable(options, {values[0].substr(0, equals), values[0].substr(equals + 1)});
}

Status add_injection(Options& options, const std::vector<std::string>& values) {
  auto rule = parse_inject_rule(values[0]);
  if (!rule) return tl::unexpected<Error>(rule.error().within("--inject"));
  options.injections.push_back(std::move(*rule));
  return {};
}

Status set_binding(Options& options, const std::vector<std::string>& values) {
  if (values[0] == "none") return options.binding = Binding::none, Status();
  if (values[0] == "core") return options.binding = Binding::core, Status();
  return failure(Errc::unsupported, "--bind-to knows none and core, and not '{}'", values[0]);
}

Status ignore_with_warning(Options& options, std::string_view name) {
  const std::string warning = fmt::format("{} has no meaning here and is ignored", name);
  if (std::find(options.warnings.begin(), options.warnings.end(), warning) == options.warnings.end())
    options.warnings.push_back(warning);
  return {};
}

Status nothing(Options&, const std::vector<std::string>&) { return {}; }

const std::vector<Spec>& specs() {
  using Values = const std::vector<std::string>&;
  static const std::vector<Spec> all = {
      {{"n", "np", "c"}, 1, set_rank_count},
      {{"host", "hosts", "H"}, 1, check_hosts},
      {{"f", "hostfile", "machinefile", "default-hostfile"}, 1, check_host_file},
      {{"wdir", "wd"}, 1, [](Options& o, Values v) { return o.working_directory = v[0], Status(); }},
      {{"env", "genv"}, 2, set_variable},
      {{"x"}, 1, export_variable},
      {{"genvall", "envall", "oversubscribe", "q", "quiet", "allow-run-as-root", "print-all-exitcodes"},
       0,
       nothing},
      {{"l", "tag-output", "prepend-rank"},
       0,
       [](Options& o, Values) { return o.tag_output = true, Status(); }},
      {{"timeout"}, 1, set_timeout},
      {{"v", "verbose"}, 0, [](Options& o, Values) { return o.verbose = true, Status(); }},
      {{"version", "V"}, 0, [](Options& o, Values) { return o.action = Action::show_version, Status(); }},
      {{"help", "h"}, 0, [](Options& o, Values) { return o.action = Action::show_help, Status(); }},
      {{"ppn", "N", "npernode"},
       1,
       [](Options&, Values v) {
         auto count = parse_count(v[0], "the ranks of a node (-ppn)", 1000000);
         return count ? Status() : Status(propagate(count));
       }},
      {{"bind-to"}, 1, set_binding},
      {{"map-by", "rank-by", "iface", "launcher", "stdin"}, 1, nothing},
      {{"report-bindings", "disable-auto-cleanup", "enable-recovery"}, 0, nothing},
      {{"mca", "gmca"}, 2, [](Options& o, Values) { return ignore_with_warning(o, "--mca"); }},
      {{"qos"}, 1, [](Options& o, Values v) { return o.qos = v[0], Status(); }},
      {{"inject"}, 1, add_injection},
      {{"report"}, 1, [](Options& o, Values v) { return o.report_path = v[0], Status(); }},
  };
  return all;
}

const Spec* find_spec(std::string_view name) {
  for (const Spec& spec : specs())
    if (std::find(spec.names.begin(), spec.names.end(), name) != spec.names.end()) return &spec;
  return nullptr;
}

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
    return failure(Errc::invalid_argument, "there is no option '{}'; mpirun --help lists what there is",
                   argument);
  std::vector<std::string> values;
  if (written.value && spec->value_count == 0)
    return failure(Errc::invalid_argument, "the option '{}' takes no value", argument);
  if (written.value) values.push_back(*written.value);
  while (values.size() < spec->value_count) {
    if (at == arguments.size())
      return failure(Errc::invalid_argument, "the option '{}' wants {} value{}", argument, spec->value_count,
                     spec->value_count == 1 ? "" : "s");
    values.push_back(arguments[at++]);
  }
  return spec->apply(options, values);
}

Status check_ranks_of_injections(const Options& options) {
  for (const InjectRule& rule : options.injections)
    if (rule.rank >= options.rank_count)
      return failure(Errc::invalid_argument, "--inject '{}': the job has the ranks 0 to {}", rule.text,
                     options.rank_count - 1);
  return {};
}

Status read_environment(const Environment& environment, Options& options) {
  if (auto qos = environment("LLAMADA_QOS"); qos && !qos->empty()) options.qos = *qos;
  if (auto timeout = environment("MPIEXEC_TIMEOUT"); timeout && !timeout->empty())
    if (auto status = set_timeout(options, {*timeout}); !status)
      return tl::unexpected<Error>(status.error().within("MPIEXEC_TIMEOUT"));
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
  if (options.command.empty())
    return failure(Errc::invalid_argument,
                   "there is no program to run; mpirun -n 4 ./a.out runs one on four ranks");
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

}  // namespace

Result<Options> parse_options(std::span<const std::string> arguments, const Environment& environment) {
  Options options;
  if (auto status = read_environment(environment, options); !status) return propagate(status);
  std::size_t at = 0;
  if (auto status = read_part(arguments, at, options); !status) return propagate(status);
  if (options.action != Action::run) return options;
  if (auto status = read_further_parts(arguments, at, options); !status) return propagate(status);
  if (auto status = check_ranks_of_injections(options); !status) return propagate(status);
  return options;
}

std::string help_text() {
  return R"(Usage: mpirun [options] program [arguments]

  -n, -np N              start N ranks (1)
  --qos NAME|FILE.xml[:Library::Profile]
                         the QoS profile of the job (default; also LLAMADA_QOS)
  --timeout SECONDS      end the job after that time, exit code 124
  -l, --tag-output       begin each line of output with the rank it comes from
  -wdir DIRECTORY        where the ranks run
  -env NAME VALUE, -genv NAME VALUE, -x NAME[=VALUE]
                         set a variable for the ranks
  --bind-to none|core    bind each rank to a core (none)
  --report FILE.json     write what happened: deaths, replacements, counters
  --inject RULE          let a rank die, for tests; may be repeated:
                           'kill rank R after 1.5s [of incarnation K] [signal SIGSEGV]'
                           'kill rank R at call N …', 'kill rank R in MPI_Allreduce [N] …'
                           'kill rank R at step publish:committed[:N] …'
  -v, --version, --help
  program1 … : [options] program2 …
                         several programs in one job; -n, -wdir and -env are each one's own

  Also taken: -host, -H, -hosts, -f, -hostfile (this machine only), -ppn, -N, --mca, -genvall, --oversubscribe.

Exit code: 0 when all is well, 128 + signal when a rank died of one, else the first non-zero code of a rank;
  122 a replacement diverged, 123 unprotected, 124 timeout, 125 mpirun's own, 126 not executable, 127 not found.
)";
}

}  // namespace llamada::launcher
