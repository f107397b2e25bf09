#include "llamada/launcher/options.hpp"

#include <fstream>
#include <map>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

using HostLists = std::vector<std::vector<HostEntry>>;

const Environment nothing_set = [](std::string_view) { return std::nullopt; };

Result<Options> parse(std::vector<std::string> words) { return parse_options(words, nothing_set); }

Options good(std::vector<std::string> words) {
  auto options = parse(std::move(words));
  REQUIRE(options);
  return *options;
}

std::string error_of(std::vector<std::string> words) {
  auto options = parse(std::move(words));
  REQUIRE_FALSE(options);
  return options.error().text();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("options: the number of ranks is written in five ways", "[launcher]") {
  for (const char* name : {"-n", "-np", "--np", "--n", "-c"}) CHECK(good({name, "4", "a"}).rank_count == 4);
  CHECK(good({"--np=3", "a"}).rank_count == 3);
  CHECK(good({"a"}).rank_count == 1);
  for (const char* bad : {"0", "-1", "x", "4x", "", "99999999999"})
    CHECK(contains(error_of({"-n", bad, "a"}), "-n"));
}

TEST_CASE("options: without a number of ranks there are as many as Slurm has planned tasks", "[launcher]") {
  std::string tasks = "6";
  const Environment slurm = [&tasks](std::string_view name) -> std::optional<std::string> {
    return name == "SLURM_NTASKS" ? std::optional(tasks) : std::nullopt;
  };
  const auto ranks = [&slurm](const std::vector<std::string>& words) {
    auto options = parse_options(words, slurm);
    REQUIRE(options);
    return options->rank_count;
  };
  CHECK(ranks({"a"}) == 6);
  CHECK(ranks({"-n", "2", "a"}) == 2);
  CHECK(ranks({"a", ":", "-n", "3", "b"}) == 4);
  tasks = "many";
  const std::vector<std::string> words{"a"};
  CHECK(contains(parse_options(words, slurm).error().text(), "SLURM_NTASKS"));
}

TEST_CASE("options: what stands behind the program is the program's", "[launcher]") {
  const Options options = good({"-n", "2", "a", "-n", "3", "--qos"});
  CHECK(options.rank_count == 2);
  CHECK(options.command == std::vector<std::string>{"a", "-n", "3", "--qos"});
  CHECK(good({"-n", "2", "--", "-odd"}).command == std::vector<std::string>{"-odd"});
  CHECK(good({"-n", "2", "a", ":"}).command == std::vector<std::string>{"a"});
}

TEST_CASE("options: each of several programs has its ranks, directory and variables", "[launcher]") {
  const Options options = good({"-n", "2", "-env", "A", "1", "a", "x", ":", "-n", "3", "-wdir", "/tmp",
                                "-env", "B", "2", "b", ":", "c", ":"});
  CHECK(options.rank_count == 6);
  REQUIRE(options.parts.size() == 3);
  CHECK(options.parts[0].rank_count == 2);
  CHECK(options.parts[0].command == std::vector<std::string>{"a", "x"});
  CHECK(options.parts[1].rank_count == 3);
  CHECK(options.parts[1].working_directory == "/tmp");
  CHECK(options.parts[1].variables == std::vector<Variable>{{"A", "1"}, {"B", "2"}});
  CHECK(options.parts[2].rank_count == 1);
  CHECK(!options.parts[2].working_directory);
  CHECK(options.parts[2].variables == std::vector<Variable>{{"A", "1"}});
  CHECK(good({"a", ":"}).parts.empty());
  CHECK(contains(error_of({"a", ":", "-n", "2"}), "no program"));
  CHECK(contains(error_of({"-n", "4000", "a", ":", "-n", "4000", "b"}), "4096"));
}

TEST_CASE("options: host files of both kinds are read", "[launcher]") {
  const llamada::test::TemporaryFolder folder;
  const std::string own = folder / "own", others = folder / "others", bad = folder / "bad";
  std::ofstream(own) << "# this machine\nlocalhost:4\n\nlocalhost slots=2 max_slots=4  # again\n";
  std::ofstream(bad) << "localhost\nelsewhere cores=4\n";
  std::ofstream(others) << "localhost\nelsewhere:4\n";
  CHECK(good({"-f", own, "a"}).nodes.host_lists == HostLists{{{"localhost", 6, 8}}});
  CHECK(good({"--hostfile", others, "a"}).nodes.host_lists ==
        HostLists{{{"localhost", {}, {}}, {"elsewhere", 4, {}}}});
  CHECK(contains(error_of({"-machinefile", bad, "a"}), "bad:2: "));
  CHECK(contains(error_of({"-f", "hosts.txt", "a"}), "hosts.txt"));
}

TEST_CASE("options: hosts, their order and their agent are taken in both spellings", "[launcher]") {
  const Options options = good({"-H", "a,b:2", "--map-by", "node:OVERSUBSCRIBE", "-ppn", "3", "a"});
  CHECK(options.nodes.host_lists == HostLists{{{"a", {}, {}}, {"b", 2, {}}}});
  CHECK(options.nodes.order == HostOrder::by_node);
  CHECK(options.nodes.oversubscribe);
  CHECK(options.nodes.ranks_per_node == 3);
  CHECK(good({"--bynode", "--map-by", "slot", "a"}).nodes.order == HostOrder::by_slot);
  CHECK(good({"-bootstrap", "fork", "a"}).nodes.launcher == "fork");
  CHECK(good({"--launcher-exec", "rsh", "a"}).nodes.launcher_exec == "rsh");
  const Options agent = good({"--mca", "plm_rsh_agent", "ssh -p 22 : rsh", "a"});
  CHECK(agent.nodes.launcher_exec == "ssh -p 22");
  CHECK(agent.warnings.empty());
  CHECK(contains(error_of({"-host", "a;b", "a"}), "--host"));
}

TEST_CASE("options: variables are set as MPICH and as Open MPI do", "[launcher]") {
  const Options options = good({"-env", "A", "1", "-genv", "B", "x=y", "-x", "C=3", "-x", "D", "a"});
  CHECK(options.variables == std::vector<Variable>{{"A", "1"}, {"B", "x=y"}, {"C", "3"}});
  CHECK(contains(error_of({"-env", "A=B", "1", "a"}), "A=B"));
  CHECK(contains(error_of({"-x", "=3", "a"}), "variable"));
}

TEST_CASE("options: --mca and its like are taken with one warning", "[launcher]") {
  CHECK(good({"--mca", "btl", "tcp", "-mca", "pml", "ob1", "a"}).warnings.size() == 1);
  CHECK(good({"-ppn", "4", "-N", "2", "--oversubscribe", "-genvall", "a"}).warnings.empty());
}

TEST_CASE("options: an option that is not there, or lacks its value, is named", "[launcher]") {
  CHECK(contains(error_of({"--frobnicate", "a"}), "--frobnicate"));
  CHECK(contains(error_of({"-n"}), "-n"));
  CHECK(contains(error_of({"-env", "A"}), "2 values"));
  CHECK(contains(error_of({"-l=3", "a"}), "no value"));
  CHECK(contains(error_of({"-n", "2"}), "no program"));
  CHECK(contains(error_of({"--bind-to", "l3cache", "a"}), "l3cache"));
}

TEST_CASE("options: the time limit is seconds above 0", "[launcher]") {
  CHECK_FALSE(good({"a"}).ends_at_deadlock);
  CHECK(good({"--on-deadlock", "end", "a"}).ends_at_deadlock);
  CHECK_FALSE(good({"--on-deadlock=report", "a"}).ends_at_deadlock);
  CHECK(contains(error_of({"--on-deadlock", "stop", "a"}), "report or end"));
  CHECK(good({"--timeout", "0.5", "a"}).timeout == std::chrono::milliseconds(500));
  CHECK(good({"a"}).kill_after == std::chrono::seconds(30));
  CHECK(good({"--kill-after", "0.5", "a"}).kill_after == std::chrono::milliseconds(500));
  CHECK(contains(error_of({"--kill-after", "0", "a"}), "--kill-after must be a number of seconds above 0"));
  for (const char* bad : {"0", "-1", "x", "1s", "inf", "nan", ""})
    CHECK(contains(error_of({"--timeout", bad, "a"}), "--timeout"));
}

TEST_CASE("options: the command line overrides the environment", "[launcher]") {
  const Environment environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "LLAMADA_QOS") return "fault-tolerant";
    if (name == "MPIEXEC_TIMEOUT") return "3";
    if (name == "LLAMADA_ON_DEADLOCK") return "end";
    return std::nullopt;
  };
  const std::vector<std::string> plain = {"a"}, given = {"--qos", "default", "--timeout", "9", "a"};
  CHECK(parse_options(plain, environment)->qos == "fault-tolerant");
  CHECK(parse_options(plain, environment)->timeout == std::chrono::seconds(3));
  CHECK(parse_options(plain, environment)->ends_at_deadlock);
  CHECK(parse_options(given, environment)->qos == "default");
  CHECK(parse_options(given, environment)->timeout == std::chrono::seconds(9));
}

TEST_CASE("options: rules are for ranks that the job has", "[launcher]") {
  CHECK(good({"-n", "3", "--inject", "kill rank 2 after 1s", "--inject", "kill rank 0 at call 3", "a"})
            .injections.size() == 2);
  CHECK(contains(error_of({"-n", "2", "--inject", "kill rank 2 after 1s", "a"}), "0 to 1"));
  CHECK(contains(error_of({"--inject", "kill rank 0 sometimes", "a"}), "sometimes"));
}

TEST_CASE("options: help and version need no program", "[launcher]") {
  CHECK(good({"--help"}).action == Action::show_help);
  CHECK(good({"-h"}).action == Action::show_help);
  CHECK(good({"-n", "2", "--version"}).action == Action::show_version);
  CHECK(contains(help_text(), "--inject"));
}

TEST_CASE("options: a file has a line for each program", "[launcher]") {
  const llamada::test::TemporaryFolder folder;
  const std::string path = folder / "programs";
  std::ofstream(path)
      << "# two programs\n-n 2 a 'one word' \"a \\\"b\\\"\"\n\n  -n 3 -env A 1 \\\n b x\\ y # the end\n";
  for (const char* name : {"-configfile", "--app"}) {
    const Options options = good({"-l", name, path});
    CHECK(options.line_prefix == "[%r] ");
    REQUIRE(options.parts.size() == 2);
    CHECK(options.parts[0].command == std::vector<std::string>{"a", "one word", "a \"b\""});
    CHECK(options.parts[1].rank_count == 3);
    CHECK(options.parts[1].command == std::vector<std::string>{"b", "x y"});
  }
  CHECK(good({"--app=" + path}).rank_count == 5);
  CHECK(contains(error_of({"-configfile", path, "more"}), "last"));
  CHECK(contains(error_of({"-configfile", folder / "missing"}), "missing"));
  std::ofstream(path) << "a\nb 'open\n";
  CHECK(contains(error_of({"-configfile", path}), "line 2"));
  // Behind the program it is the program's.
  CHECK(good({"a", "-configfile", "x"}).command.size() == 3);
}

TEST_CASE("options: bindings by what belongs together, and what is not known is refused", "[launcher]") {
  CHECK(good({"--bind-to", "core", "a"}).binding == CpuLevel::core);
  CHECK(good({"-bind-to", "core:overload-allowed", "a"}).binding == CpuLevel::core);
  CHECK(good({"--bind-to", "none", "a"}).binding == CpuLevel::none);
  CHECK(good({"--map-by", "socket:PE=1", "a"}).mapping == CpuLevel::socket);
  CHECK(good({"--map-by", "slot", "a"}).mapping == CpuLevel::none);
  CHECK(contains(error_of({"--bind-to", "l5cache", "a"}), "l5cache"));
  CHECK(contains(error_of({"--bind-to", "core:2", "a"}), "core:2"));
  CHECK(contains(error_of({"--map-by", "ppr:2:node", "a"}), "ppr"));
  CHECK(contains(error_of({"--map-by", "board", "a"}), "board"));
}

TEST_CASE("options: output files, variables that are handed on, standard input", "[launcher]") {
  CHECK(good({"-prepend-pattern", "<%r>", "a"}).line_prefix == "<%r>");
  CHECK(good({"-outfile-pattern=o.%r", "-errfile-pattern", "e.%r", "a"}).output_pattern == "o.%r");
  CHECK(good({"--output-filename", "d:nocopy", "a"}).output_folder == "d");
  CHECK_FALSE(good({"--output-filename", "d:nocopy", "a"}).output_also_shown);
  CHECK(good({"--output-filename", "d", "a"}).output_also_shown);
  CHECK(contains(error_of({"--output-filename", "d:odd", "a"}), "odd"));
  CHECK(good({"-genvnone", "a"}).inheritance == Inheritance::none);
  CHECK(good({"-genvlist", "A,B", "a"}).inherited == std::vector<std::string>{"A", "B"});
  CHECK(contains(error_of({"-genvlist", "A,,B", "a"}), "name"));
  CHECK_FALSE(good({"-stdin", "none", "a"}).input_to_rank_0);
  CHECK(contains(error_of({"-stdin", "all", "a"}), "all"));
  CHECK(good({"-usize", "10", "a"}).universe_size == 10);
  CHECK(contains(error_of({"-usize", "many", "a"}), "many"));
}
