#include "option_specs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <thread>

#include "small_file.hpp"

namespace llamada::launcher {
namespace {

using Values = const std::vector<std::string>&;

Result<std::uint32_t> parse_count(std::string_view text, std::string_view what, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value == 0 || value > most)
    return failure(Errc::invalid_argument, "{} must be a number from 1 to {}, not '{}'", what, most, text);
  return value;
}

Status set_rank_count(Options& options, const std::vector<std::string>& values) {
  auto count = parse_count(values[0], "the number of ranks (-n)", rank_count_max);
  if (!count) return propagate(count);
  options.rank_count = *count;
  options.has_rank_count = true;
  return {};
}

Result<std::chrono::nanoseconds> parse_seconds(const std::string& text, std::string_view option) {
  double seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(seconds > 0 && seconds < 1e9))
    return failure(Errc::invalid_argument, "{} must be a number of seconds above 0, not '{}'", option, text);
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

Status set_timeout(Options& options, const std::vector<std::string>& values) {
  auto time = parse_seconds(values[0], "--timeout");
  if (!time) return propagate(time);
  options.timeout = *time;
  return {};
}

Status set_kill_after(Options& options, const std::vector<std::string>& values) {
  auto time = parse_seconds(values[0], "--kill-after");
  if (!time) return propagate(time);
  options.kill_after = *time;
  return {};
}

Status set_on_deadlock(Options& options, const std::vector<std::string>& values) {
  if (values[0] != "report" && values[0] != "end")
    return failure(Errc::invalid_argument, "--on-deadlock must be report or end, not '{}'", values[0]);
  options.ends_at_deadlock = values[0] == "end";
  return {};
}

Status set_link(Options& options, Values values) {
  const std::map<std::string_view, LinkWish> wishes{
      {"auto", LinkWish::automatic}, {"udp", LinkWish::udp}, {"ethernet", LinkWish::ethernet}};
  const auto wish = wishes.find(values[0]);
  if (wish == wishes.end())
    return failure(Errc::invalid_argument, "--link must be auto, udp or ethernet, not '{}'", values[0]);
  options.nodes.link = wish->second;
  return {};
}

Status add_hosts(Options& options, Values values) {
  auto hosts = parse_host_option(values[0]);
  if (!hosts) return tl::unexpected<Error>(hosts.error().within("--host"));
  options.nodes.host_lists.push_back(std::move(*hosts));
  return {};
}

Status add_host_file(Options& options, Values values) {
  auto text = read_small_file(values[0], "the host file");
  if (!text) return propagate(text);
  auto hosts = parse_host_file(*text, values[0]);
  if (!hosts) return propagate(hosts);
  options.nodes.host_lists.push_back(std::move(*hosts));
  return {};
}

Status check_name(std::string_view name) {
  if (name.empty() || name.find('=') != name.npos)
    return failure(Errc::invalid_argument, "'{}' is not the name of an environment variable", name);
  return {};
}

Status pass_variable(Options& options, const std::vector<std::string>& values) {
  if (auto status = check_name(values[0]); !status) return status;
  options.variables.push_back({values[0], values[1]});
  return {};
}

/// Open MPI's -x: NAME=VALUE, or NAME, which our ranks inherit anyway.
Status export_variable(Options& options, const std::vector<std::string>& values) {
  const std::size_t equals = values[0].find('=');
  if (equals == std::string::npos) return check_name(values[0]);
  return pass_variable(options, {values[0].substr(0, equals), values[0].substr(equals + 1)});
}

Status add_injection(Options& options, const std::vector<std::string>& values) {
  auto rule = parse_inject_rule(values[0]);
  if (!rule) return tl::unexpected<Error>(rule.error().within("--inject"));
  options.injections.push_back(std::move(*rule));
  return {};
}

/// The names between commas.
Status inherit_only(Options& options, Values values) {
  options.inheritance = Inheritance::listed;
  std::istringstream names(values[0]);
  for (std::string name; std::getline(names, name, ',');) {
    if (auto status = check_name(name); !status) return status;
    options.inherited.push_back(name);
  }
  return {};
}

/// "core", or "core:MODIFIER" with one of Open MPI's.
Result<std::string_view> without_modifier(std::string_view option, std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view modifier = text.substr(std::min(colon + 1, text.size()));
  for (const char* known : {"", "overload-allowed", "if-supported", "OVERSUBSCRIBE", "NOOVERSUBSCRIBE",
                            "oversubscribe", "nooversubscribe", "span", "SPAN", "PE=1", "pe=1"})
    if (modifier == known) return text.substr(0, colon);
  return failure(Errc::unsupported, "{} {}: mpirun does not know ':{}'", option, text, modifier);
}

Result<CpuLevel> cpu_level(std::string_view option, std::string_view name) {
  if (name == "hwthread" || name == "hwthreads") return CpuLevel::hwthread;
  if (name == "core" || name == "cores") return CpuLevel::core;
  if (name == "numa" || name == "numanode") return CpuLevel::numa;
  if (name == "socket" || name == "package") return CpuLevel::socket;
  return failure(Errc::unsupported, "{} takes hwthread, core, numa or socket, not '{}'", option, name);
}

Status set_binding(Options& options, Values values) {
  auto name = without_modifier("--bind-to", values[0]);
  if (!name) return propagate(name);
  if (*name == "none" || *name == "board" || *name == "machine")
    return options.binding = CpuLevel::none, Status();
  auto level = cpu_level("--bind-to", *name);
  if (!level) return propagate(level);
  options.binding = *level;
  return {};
}

Status set_mapping(Options& options, Values values) {
  auto name = without_modifier("--map-by", values[0]);
  if (!name) return propagate(name);
  const std::string_view modifier = std::string_view(values[0]).substr(name->size());
  if (modifier == ":OVERSUBSCRIBE" || modifier == ":oversubscribe") options.nodes.oversubscribe = true;
  if (*name == "slot" || *name == "node") {
    options.nodes.order = *name == "node" ? HostOrder::by_node : HostOrder::by_slot;
    return options.mapping = CpuLevel::none, Status();
  }
  auto level = cpu_level("--map-by", *name);
  if (!level) return propagate(level);
  options.mapping = *level;
  return {};
}

Status set_input(Options& options, Values values) {
  if (values[0] == "0") return options.input_to_rank_0 = true, Status();
  if (values[0] == "none") return options.input_to_rank_0 = false, Status();
  return failure(Errc::unsupported, "-stdin must be 0 (rank 0) or none, not '{}'", values[0]);
}

/// Open MPI's DIRECTORY, DIRECTORY:nocopy, DIRECTORY:nojobid,nocopy.
Status set_output_folder(Options& options, Values values) {
  const std::size_t colon = values[0].rfind(':');
  options.output_folder = values[0].substr(0, colon);
  if (colon == std::string::npos) return {};
  const std::string_view how = std::string_view(values[0]).substr(colon + 1);
  if (how != "nocopy" && how != "copy")
    return failure(Errc::unsupported, "--output-filename takes DIRECTORY or DIRECTORY:nocopy, not ':{}'",
                   how);
  options.output_also_shown = how == "copy";
  return {};
}

Status set_universe_size(Options& options, Values values) {
  if (values[0] == "INFINITE") return options.universe_size = rank_count_max, Status();
  options.universe_is_system = values[0] == "SYSTEM";
  if (options.universe_is_system)
    return options.universe_size = std::thread::hardware_concurrency(), Status();
  auto count = parse_count(values[0], "the size of the universe (-usize)", rank_count_max);
  if (!count) return propagate(count);
  options.universe_size = *count;
  return {};
}

Status count_of_node(Options& options, Values values) {
  auto count = parse_count(values[0], "the ranks of a node (-ppn)", 1000000);
  if (!count) return propagate(count);
  options.nodes.ranks_per_node = *count;
  return {};
}

Status set_spares(Options& options, Values values) {
  auto count = parse_count(values[0], "the spare hosts (--spares)", 1000000);
  if (!count) return propagate(count);
  options.nodes.spare_count = *count;
  return {};
}

Status ignore_with_warning(Options& options, std::string_view name) {
  const std::string warning = fmt::format("{} has no meaning here and is ignored", name);
  if (std::find(options.warnings.begin(), options.warnings.end(), warning) == options.warnings.end())
    options.warnings.push_back(warning);
  return {};
}

/// Open MPI's "ssh : rsh" names two programs, of which it takes the first that is there.
Status set_parameter(Options& options, Values values) {
  if (values[0] != "plm_rsh_agent" && values[0] != "orte_rsh_agent")
    return ignore_with_warning(options, "--mca");
  std::string agent = values[1].substr(0, values[1].find(" : "));
  options.nodes.launcher_exec = std::move(agent);
  return {};
}

Status set_tuning(Options& options, Values values) {
  auto status = qos::set_tuning(options.tuning, values[0]);
  return status ? status : tl::unexpected<Error>(status.error().within("--set"));
}

Status nothing(Options&, Values) { return {}; }

const std::vector<Spec>& specs() {
  static const std::vector<Spec> all = {
      {{"n", "np", "c"}, 1, set_rank_count},
      {{"host", "hosts", "H"}, 1, add_hosts},
      {{"f", "hostfile", "machinefile", "default-hostfile"}, 1, add_host_file},
      {{"oversubscribe"}, 0, [](Options& o, Values) { return o.nodes.oversubscribe = true, Status(); }},
      {{"nooversubscribe"}, 0, [](Options& o, Values) { return o.nodes.oversubscribe = false, Status(); }},
      {{"bynode"}, 0, [](Options& o, Values) { return o.nodes.order = HostOrder::by_node, Status(); }},
      {{"byslot"}, 0, [](Options& o, Values) { return o.nodes.order = HostOrder::by_slot, Status(); }},
      {{"pernode"}, 0, [](Options& o, Values) { return o.nodes.ranks_per_node = 1, Status(); }},
      {{"launcher", "bootstrap"}, 1, [](Options& o, Values v) { return o.nodes.launcher = v[0], Status(); }},
      {{"launcher-exec", "bootstrap-exec"},
       1,
       [](Options& o, Values v) { return o.nodes.launcher_exec = v[0], Status(); }},
      {{"link"}, 1, set_link},
      {{"spares"}, 1, set_spares},
      {{"check-nodes"}, 0, [](Options& o, Values) { return o.nodes.only_checked = true, Status(); }},
      {{"wdir", "wd"}, 1, [](Options& o, Values v) { return o.working_directory = v[0], Status(); }},
      {{"path"}, 1, [](Options& o, Values v) { return o.program_path = v[0], Status(); }},
      {{"env", "genv"}, 2, pass_variable},
      {{"x"}, 1, export_variable},
      {{"genvall", "envall"},
       0,
       [](Options& o, Values) { return o.inheritance = Inheritance::all, Status(); }},
      {{"genvnone", "envnone"},
       0,
       [](Options& o, Values) { return o.inheritance = Inheritance::none, Status(); }},
      {{"genvlist", "envlist"}, 1, inherit_only},
      {{"l", "tag-output", "prepend-rank"},
       0,
       [](Options& o, Values) { return o.line_prefix = rank_label, Status(); }},
      {{"prepend-pattern"}, 1, [](Options& o, Values v) { return o.line_prefix = v[0], Status(); }},
      {{"outfile-pattern", "outfile"},
       1,
       [](Options& o, Values v) { return o.output_pattern = v[0], Status(); }},
      {{"errfile-pattern", "errfile"},
       1,
       [](Options& o, Values v) { return o.error_pattern = v[0], Status(); }},
      {{"output-filename"}, 1, set_output_folder},
      {{"stdin", "s"}, 1, set_input},
      {{"timeout"}, 1, set_timeout},
      {{"kill-after"}, 1, set_kill_after},
      {{"on-deadlock"}, 1, set_on_deadlock},
      {{"print-all-exitcodes"}, 0, [](Options& o, Values) { return o.print_exit_codes = true, Status(); }},
      {{"v", "verbose"}, 0, [](Options& o, Values) { return o.verbose = true, Status(); }},
      {{"version", "V"}, 0, [](Options& o, Values) { return o.action = Action::show_version, Status(); }},
      {{"help", "h"}, 0, [](Options& o, Values) { return o.action = Action::show_help, Status(); }},
      {{"ppn", "N", "npernode"}, 1, count_of_node},
      {{"bind-to"}, 1, set_binding},
      {{"bind-to-core"}, 0, [](Options& o, Values) { return o.binding = CpuLevel::core, Status(); }},
      {{"bind-to-socket"}, 0, [](Options& o, Values) { return o.binding = CpuLevel::socket, Status(); }},
      {{"bind-to-none"}, 0, [](Options& o, Values) { return o.binding = CpuLevel::none, Status(); }},
      {{"map-by"}, 1, set_mapping},
      {{"bycore"}, 0, [](Options& o, Values) { return o.mapping = CpuLevel::core, Status(); }},
      {{"bysocket"}, 0, [](Options& o, Values) { return o.mapping = CpuLevel::socket, Status(); }},
      {{"report-bindings"}, 0, [](Options& o, Values) { return o.report_bindings = true, Status(); }},
      {{"usize"}, 1, set_universe_size},
      {{"configfile", "app"}, 1, nothing, true},
      {{"mca", "gmca"}, 2, set_parameter},
      {{"membind"}, 1, [](Options& o, Values) { return ignore_with_warning(o, "-membind"); }},
      {{"rank-by"}, 1, [](Options& o, Values) { return ignore_with_warning(o, "--rank-by"); }},
      // What is so here anyway, and what is about other nodes.
      {{"allow-run-as-root", "disable-auto-cleanup", "enable-recovery", "q", "quiet", "use-hwthread-cpus",
        "disable-hostname-propagation", "localhost-only"},
       0,
       nothing},
      {{"iface", "rmk", "demux", "topolib", "tmpdir", "nameserver", "prefix", "localhost"}, 1, nothing},
      {{"set"}, 1, set_tuning},
      {{"qos"}, 1, [](Options& o, Values v) { return o.qos = v[0], Status(); }},
      {{"inject"}, 1, add_injection},
      {{"store"}, 1, [](Options& o, Values v) { return o.store = v[0], Status(); }},
      {{"report"}, 1, [](Options& o, Values v) { return o.report_path = v[0], Status(); }},
  };
  return all;
}

}  // namespace

const Spec* find_spec(std::string_view name) {
  for (const Spec& spec : specs())
    if (std::find(spec.names.begin(), spec.names.end(), name) != spec.names.end()) return &spec;
  return nullptr;
}

}  // namespace llamada::launcher
