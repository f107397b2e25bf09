#include <signal.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "job_process.hpp"
#include "test.hpp"

// Rules of --inject and of `llamada inject` in whole jobs.

namespace {

using namespace llamada;
using namespace llamada::system_test;

/// Two ranks under the profile fault-tolerant that exchange messages until they are told to end.
class Pair {
 public:
  explicit Pair(const std::string& rule = {}) : job_(words(rule)) {}

  bool is_up() const {
    std::istringstream lines(job_.output());
    int found = 0;
    for (std::string line; std::getline(lines, line);) ++found;
    return found == 2;
  }
  bool says(const std::string& words) const { return job_.errors().find(words) != std::string::npos; }
  int end() {
    std::ofstream(folder_ / "end");
    return job_.wait();
  }
  nlohmann::json report() const {
    return nlohmann::json::parse(std::ifstream(folder_ / "report"), nullptr, false);
  }
  /// The job's number, which mpirun says with -v.
  std::string number() const {
    constexpr std::string_view before = "the job has the number ";
    const std::string text = job_.errors();
    const std::size_t at = text.find(before);
    return at == std::string::npos ? std::string() : text.substr(at + before.size(), 16);
  }
  Job& job() { return job_; }

 private:
  std::vector<std::string> words(const std::string& rule) const {
    std::vector<std::string> words{
        "-v", "-n", "2", "--qos", "fault-tolerant", "--report", folder_ / "report"};
    if (!rule.empty()) words.insert(words.end(), {"--inject", rule});
    words.insert(words.end(), {LLAMADA_STOPPED, folder_ / "end", "end"});
    return words;
  }

  test::TemporaryFolder folder_;
  Job job_;
};

/// The exit code of `llamada inject`.
int inject(const std::string& job, const std::string& rule) {
  const std::string command =
      std::string(LLAMADA_TOOL) + " inject '" + job + "' '" + rule + "' > /dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("inject: a rule at any rank, from a seed that the report has", "[system]") {
  Pair pair("kill any every ~20 ms 2 times");
  REQUIRE(wait_for([&] { return pair.says("live again") || pair.job().ended(); }));
  CHECK(pair.end() == 0);
  CAPTURE(pair.job().errors());
  CHECK(
      pair.says("a seed was drawn; to repeat these failures: --inject 'kill any every ~20 ms 2 times seed "));
  const auto injection = pair.report()["injections"][0];
  CHECK(injection["fired"] == true);
  CHECK(injection["rule"].get<std::string>().find(" seed ") != std::string::npos);
}

TEST_CASE("inject: a stopped and a slow rank go on, and nobody dies", "[system]") {
  for (const char* rule : {"stop rank 1 after 50 ms for 100 ms", "slow rank 0 by 50 %"}) {
    Pair pair(rule);
    REQUIRE(wait_for([&] { return pair.is_up(); }));
    // So long that the rule has had its time; a longer pause would find the same.
    for (int moment = 0; moment < 50; ++moment) sleep_for_a_moment();
    CHECK(pair.end() == 0);
    CAPTURE(pair.job().errors());
    CHECK(pair.report()["deaths"].empty());
    CHECK(pair.report()["injections"][0]["fired"] == true);
  }
}

TEST_CASE("inject: when mpirun or the driver is killed the job ends, and nothing is left", "[system]") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const std::string who : {"mpirun", "driver"}) {
    Pair pair("kill " + who + " after 100 ms");
    CHECK(pair.job().wait() == (who == "mpirun" ? 128 + SIGKILL : 125));
    CHECK(pair.job().wait_until_none_is_left(std::chrono::seconds(30)).empty());
    CHECK(pair.says("was killed"));
    CHECK(pair.says("mpirun: --inject 'kill " + who + " after 100 ms' kills "));
    if (who == "mpirun") continue;
    CHECK(pair.report()["exit_code"] == 125);
    CHECK(pair.report()["injections"][0]["fired"] == true);
  }
}

TEST_CASE("inject: memory that is full ends the protection, and mpirun says by which rule", "[system]") {
  Pair pair("memory full after 1 KiB of log");
  REQUIRE(wait_for([&] { return pair.says("has used up the memory for histories") || pair.job().ended(); }));
  CHECK(pair.end() == 0);
  CHECK(pair.says("--inject 'memory full after 1 KiB of log' has used up the memory"));
  CHECK(pair.report()["injections"][0]["fired"] == true);
}

TEST_CASE("inject: llamada inject kills a rank of a running job, and refuses what cannot be", "[system]") {
  Pair pair;
  REQUIRE(wait_for([&] { return pair.is_up() && !pair.number().empty(); }));
  const std::string job = pair.number();
  CHECK(inject(job, "kill rank 1 afer 0 s") == 1);
  CHECK(inject(job, "kill rank 9 after 0 s") == 1);
  CHECK(inject(job, "kill rank 1 in MPI_Bcast 3") == 1);  // it runs already
  CHECK(inject(job, "kill rank 1 in MPI_Nothing 3 of incarnation 5") == 1);
  CHECK(inject("there-is-no-such-job", "kill rank 1 after 0 s") == 2);
  CHECK_FALSE(pair.says("died"));
  CHECK(inject("job-" + job, "kill rank 1 after 0 s") == 0);
  REQUIRE(wait_for([&] { return pair.says("rank 1 is live again as incarnation 2"); }));
  CHECK(pair.says("llamada inject: 'kill rank 1 after 0 s'"));
  CHECK(pair.end() == 0);
  CHECK(pair.report()["injections"].size() == 1);
}
