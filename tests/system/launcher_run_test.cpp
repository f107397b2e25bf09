#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "job_process.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

// mpirun with programs that know nothing of MPI: exit codes, input and output, replacement.

namespace {

using namespace llamada::system_test;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

/// Runs a shell script on each rank; the exit code of mpirun.
struct Ran {
  int code;
  std::string output, errors;
};

Ran end_of(Job& job) {
  const int code = job.wait();
  CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
  return {code, job.output(), job.errors()};
}

Ran run(std::vector<std::string> options, const std::string& script, const std::string& input = {}) {
  options.insert(options.end(), {"sh", "-c", script});
  Job job(options, input);
  return end_of(job);
}

/// How many of the processes live whose numbers a file has.
std::size_t living_of(const std::string& file) {
  std::ifstream numbers(file);
  std::size_t count = 0;
  for (pid_t pid; numbers >> pid;) count += ::kill(pid, 0) == 0;
  return count;
}

/// Runs a script that waits for a file: its name is in $GO, and the file is made once so many deaths have
/// been told of and the replacements run, until when what the dead leave behind may live.
Ran run_until_deaths(std::size_t deaths, std::vector<std::string> options, const std::string& script,
                     const std::string& input = {}) {
  const llamada::test::TemporaryFolder folder;
  const std::string go = folder / "go";
  const std::string begun = folder / "begun";
  const std::size_t ranks = std::stoul(options.at(1));  // behind -n
  options.insert(options.end(), {"sh", "-c", "echo $$ >>" + begun + "; GO=" + go + "; " + script});
  Job job(options, input);
  CHECK(wait_for([&] {
    return job.ended() || (count_of(job.errors(), " died.\n") == deaths && living_of(begun) == ranks);
  }));
  std::ofstream(go) << "go";
  return end_of(job);
}

/// For scripts: waits for a file.
std::string until(const std::string& file) { return "while [ ! -e " + file + " ]; do sleep 0.01; done; "; }

}  // namespace

TEST_CASE("mpirun: the exit code is 0, the first failure, or 128 + signal", "[system]") {
  CHECK(run({"-n", "3"}, "exit 0").code == 0);
  CHECK(run({"-n", "3"}, "[ $PMI_RANK != 1 ] || exit 7").code == 7);
  CHECK(run({"-n", "2"}, "[ $PMI_RANK != 1 ] || kill -KILL $$; exec sleep 1000").code == 128 + SIGKILL);
  CHECK(run({"-n", "2"}, "[ $PMI_RANK != 1 ] || kill -SEGV $$; exec sleep 1000").code == 128 + SIGSEGV);
}

TEST_CASE("mpirun: a program that is not there, or cannot be executed, is named", "[system]") {
  Job missing({"-n", "2", "./there-is-no-such-program"});
  CHECK(missing.wait() == 127);
  CHECK(missing.errors().find("there-is-no-such-program") != std::string::npos);
  Job forbidden({"-n", "2", "/etc/passwd"});
  CHECK(forbidden.wait() == 126);
  CHECK(forbidden.errors().find("/etc/passwd") != std::string::npos);
}

TEST_CASE("mpirun: standard input goes to rank 0, all of it", "[system]") {
  const std::string input(1'000'000, 'x');
  const Ran ran = run({"-n", "2"}, "wc -c", input);
  CHECK(ran.code == 0);
  CHECK(count_of(ran.output, "1000000") == 1);
  CHECK(count_of(ran.output, "\n") == 2);
}

TEST_CASE("mpirun: lines of different ranks never mix, and none is lost", "[system]") {
  const Ran ran = run(
      {"-n", "4"},
      "i=0; while [ $i -lt 500 ]; do printf 'a%d' $PMI_RANK; printf 'b%dc\\n' $PMI_RANK; i=$((i+1)); done");
  CHECK(ran.code == 0);
  CHECK(count_of(ran.output, "\n") == 2000);
  for (const char* line : {"a0b0c\n", "a1b1c\n", "a2b2c\n", "a3b3c\n"})
    CHECK(count_of(ran.output, line) == 500);
}

TEST_CASE("mpirun: --tag-output names the rank in each line", "[system]") {
  const Ran ran = run({"-n", "2", "-l"}, "echo one; printf two");
  CHECK(count_of(ran.output, "[0] one\n") == 1);
  CHECK(count_of(ran.output, "[1] two") == 1);
}

TEST_CASE("mpirun: --timeout ends the job with code 124", "[system]") {
  const Ran ran = run({"-n", "2", "--timeout", "0.2"}, "trap '' TERM; sleep 1000");
  CHECK(ran.code == 124);
  CHECK(ran.errors ==
        "mpirun: --timeout (0.2 s) has expired; the job is ended.\n"
        "mpirun: this is what the ranks wait for:\n"
        "  rank 0 does not wait in MPI.\n"
        "  rank 1 does not wait in MPI.\n");
}

TEST_CASE("mpirun: under REBUILD a rank is started again, and its output is neither lost nor doubled",
          "[system]") {
  const llamada::test::TemporaryFolder folder;
  const std::string report = folder / "report";
  const Ran killed =
      run_until_deaths(2,
                       {"-n", "2", "--qos", "fault-tolerant", "--inject", "kill rank 1 after 0.3 s",
                        "--inject", "kill rank 1 after 0.1s of incarnation 2", "--report", report},
                       "echo begin $PMI_RANK; " + until("$GO") + "echo end $PMI_RANK");
  CHECK(killed.code == 0);
  for (const char* line : {"begin 0\n", "begin 1\n", "end 0\n", "end 1\n"})
    CHECK(count_of(killed.output, line) == 1);
  CHECK(count_of(killed.errors, "mpirun: rank 1 of 2 died.") == 2);
  const auto json = nlohmann::json::parse(std::ifstream(report));
  CHECK(json["exit_code"] == 0);
  CHECK(json["replacements"] == 2);
  REQUIRE(json["deaths"].size() == 2);
  CHECK(json["deaths"][1]["incarnation"] == 2);
  CHECK(json["deaths"][0]["signal"] == SIGKILL);
  CHECK(json["deaths"][0]["phase"] == "before_init");
  CHECK(json["injections"][0]["fired"] == true);
}

TEST_CASE("mpirun: a replacement of rank 0 is given the standard input again", "[system]") {
  const Ran ran =
      run_until_deaths(1, {"-n", "1", "--qos", "fault-tolerant", "--inject", "kill rank 0 after 0.3s"},
                       "read a; echo got $a; " + until("$GO") + "read b; echo got $b", "one\ntwo\n");
  CHECK(ran.code == 0);
  CHECK(ran.output == "got one\ngot two\n");
}

TEST_CASE("mpirun: a replacement that writes something else ends the job", "[system]") {
  const Ran ran =
      run({"-n", "2", "--qos", "fault-tolerant"},
          "cat /proc/sys/kernel/random/uuid; [ $PMI_RANK != 1 ] || kill -KILL $$; exec sleep 1000");
  CHECK(ran.code == 122);
  CHECK(ran.errors.find("replay diverged: standard output of rank 1 at byte ") != std::string::npos);
}

TEST_CASE("mpirun: the same fault at the same place is the program's own", "[system]") {
  const Ran ran =
      run({"-n", "2", "--qos", "fault-tolerant"}, "[ $PMI_RANK != 1 ] || kill -SEGV $$; exec sleep 1000");
  CHECK(ran.code == 128 + SIGSEGV);
  CHECK(ran.errors.find("deterministic application fault") != std::string::npos);
}

TEST_CASE("mpirun: what a dead incarnation leaves behind is gone before the next begins", "[system]") {
  // A ghost of the first incarnation would be heard as well.
  const Ran ran =
      run_until_deaths(1, {"-n", "1", "--qos", "fault-tolerant", "--inject", "kill rank 0 after 0.3s"},
                       "export GO; echo one; setsid sh -c '" + until("$GO") +
                           "echo ghost; touch $GO-heard' & " + until("$GO-heard") + "echo two");
  CHECK(ran.code == 0);
  CHECK(ran.output.find("one\n") == 0);
  CHECK(count_of(ran.output, "ghost\n") == 1);
}

TEST_CASE("mpirun: a rule that never fired is mentioned", "[system]") {
  const Ran ran = run({"-n", "1", "--inject", "kill rank 0 at call 5"}, "exit 0");
  CHECK(ran.code == 0);
  CHECK(lines_of_mpirun(ran.errors).size() == 1);
}

TEST_CASE("mpirun: output of a child that the rank leaves behind still comes", "[system]") {
  const Ran ran = run({"-n", "2"}, "(sleep 0.2; echo late) & exit 0");
  CHECK(ran.code == 0);
  CHECK(count_of(ran.output, "late\n") == 2);
}

TEST_CASE("mpirun: the block of a death has the last lines that the rank had said", "[system]") {
  const Ran ran =
      run({"-n", "2"},
          "[ $PMI_RANK = 1 ] || exec sleep 1000; echo first >&2; printf 'the last' >&2; kill -SEGV $$");
  CHECK(ran.code == 128 + SIGSEGV);
  CAPTURE(ran.errors);
  CHECK(ran.errors.find("\n  said      first\n            the last\n  ") != std::string::npos);
}

TEST_CASE("mpirun: the block of a death names the core file, where cores are files", "[system]") {
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  const llamada::test::TemporaryFolder folder;
  const Ran ran = run({"-n", "1", "-wdir", folder.path()}, "ulimit -c unlimited && kill -SEGV $$");
  CAPTURE(ran.errors, pattern);
  const bool there = std::any_of(std::filesystem::directory_iterator(folder.path()), {},
                                 [](const auto& file) { return file.file_size() > 0; });
  if (pattern.find('/') == std::string::npos)
    CHECK(there == (ran.errors.find("\n  core      " + folder.path().string() + "/") != std::string::npos));
  if (pattern.starts_with("|")) CHECK(ran.errors.find("\n  core ") == std::string::npos);
}

TEST_CASE("mpirun: several programs are one job", "[system]") {
  const auto say = [](const std::string& name) {
    return "echo " + name + " $LLAMADA_RANK of $LLAMADA_SIZE, program $LLAMADA_APPNUM, $WHO in $(pwd)";
  };
  Job job({"-n", "2", "-env", "WHO", "us", "sh", "-c", say("first"), ":", "-wdir", "/", "-env", "WHO", "them",
           "sh", "-c", say("second") + "; exit 3"});
  const Ran ran = end_of(job);
  CHECK(ran.code == 3);
  CHECK(count_of(ran.output, "first 0 of 3, program 0, us in ") == 1);
  CHECK(count_of(ran.output, "first 1 of 3, program 0, us in ") == 1);
  CHECK(count_of(ran.output, "second 2 of 3, program 1, them in /\n") == 1);
  Job absent({"true", ":", "/no/such/program"});
  CHECK(end_of(absent).code == 127);
}

TEST_CASE("mpirun: each rank's output goes to its file", "[system]") {
  const llamada::test::TemporaryFolder folder;
  const auto content = [&](const std::string& name) {
    std::ifstream file(folder / name);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const Ran patterns =
      run({"-n", "2", "-outfile-pattern", folder / "out.%r.%%", "-errfile-pattern", folder / "err.%r"},
          "echo out $PMI_RANK; echo err $PMI_RANK >&2");
  CHECK(patterns.code == 0);
  CHECK(patterns.output.empty());
  CHECK(content("out.0.%") == "out 0\n");
  CHECK(content("out.1.%") == "out 1\n");
  CHECK(content("err.1") == "err 1\n");
  const Ran copied = run({"-n", "2", "--output-filename", folder / "copied"}, "echo out $PMI_RANK");
  CHECK(count_of(copied.output, "out") == 2);
  CHECK(content("copied/1/rank.1/stdout") == "out 1\n");
  CHECK(std::filesystem::exists(folder / "copied/1/rank.0/stderr"));
  const Ran only = run({"-n", "1", "--output-filename", (folder / "only") + ":nocopy"}, "echo out");
  CHECK(only.output.empty());
  CHECK(content("only/1/rank.0/stdout") == "out\n");
  const Ran refused = run({"-n", "1", "-outfile-pattern", "/proc/no/%r"}, "echo out");
  CHECK(refused.code == 125);
  CHECK(refused.errors.find("/proc/no/0") != std::string::npos);
}

TEST_CASE("mpirun: what replaced ranks wrote is once in their files", "[system]") {
  const llamada::test::TemporaryFolder folder;
  const Ran ran = run_until_deaths(1,
                                   {"-n", "2", "--qos", "fault-tolerant", "-outfile-pattern",
                                    folder / "out.%r", "--inject", "kill rank 1 after 0.2s"},
                                   "echo begin; " + until("$GO") + "echo end");
  CHECK(ran.code == 0);
  std::ifstream file(folder / "out.1");
  CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == "begin\nend\n");
}

TEST_CASE("mpirun: ranks get only the variables that are handed on", "[system]") {
  const Ran none = run({"-n", "1", "-genvnone", "-env", "MINE", "1"}, "echo [$MINE$HOME$PMI_RANK]");
  CHECK(none.output == "[10]\n");
  setenv("FIRST_OF_TEST", "1", 1);
  setenv("SECOND_OF_TEST", "2", 1);
  const Ran listed = run({"-n", "1", "-genvlist", "FIRST_OF_TEST"}, "echo [$FIRST_OF_TEST$SECOND_OF_TEST]");
  CHECK(listed.output == "[1]\n");
}

TEST_CASE("mpirun: a file of programs, a path to them, their exit codes", "[system]") {
  const llamada::test::TemporaryFolder folder;
  std::ofstream(folder / "say") << "#!/bin/sh\necho $1 $PMI_RANK of $PMI_SIZE\nexit $2\n";
  std::filesystem::permissions(folder / "say", std::filesystem::perms::owner_all);
  std::ofstream(folder / "programs") << "-n 2 say hello 0\nsay bye 3\n";
  Job job({"-path", folder.path(), "-print-all-exitcodes", "-configfile", folder / "programs"});
  const Ran ran = end_of(job);
  CHECK(ran.code == 3);
  for (const char* line : {"hello 0 of 3\n", "hello 1 of 3\n", "bye 2 of 3\n"})
    CHECK(count_of(ran.output, line) == 1);
  CHECK(count_of(ran.errors, "exit codes: rank 0: 0, rank 1: 0, rank 2: 3\n") == 1);
}

TEST_CASE("mpirun: ranks run where --report-bindings says, and -stdin none is the end at once", "[system]") {
  const Ran ran =
      run({"-n", "2", "--bind-to", "hwthread", "--report-bindings", "-stdin", "none"},
          "grep Cpus_allowed_list /proc/self/status; echo of $LLAMADA_CPUS CPUs; wc -c", "not for anybody");
  CHECK(ran.code == 0);
  CHECK(count_of(ran.errors, "is bound to CPUs ") == 2);
  const std::size_t at = ran.errors.find("rank 0 is bound to CPUs ") + 24;
  const std::string cpu = ran.errors.substr(at, ran.errors.find('.', at) - at);
  CHECK(count_of(ran.output, "Cpus_allowed_list:\t" + cpu + "\n") >= 1);
  CHECK(count_of(ran.output, "0\n") >= 2);
  // Who is bound to one is not therefore one of more ranks than CPUs.
  cpu_set_t usable;
  CPU_ZERO(&usable);
  REQUIRE(sched_getaffinity(0, sizeof usable, &usable) == 0);
  CHECK(count_of(ran.output, "of " + std::to_string(CPU_COUNT(&usable)) + " CPUs\n") == 2);
}
