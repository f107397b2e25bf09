#include "verdict.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace llamada::failures {
namespace {

using Json = nlohmann::json;

constexpr int exit_diverged = 122, exit_deadlock = 119;
/// What a job may go on for after the death of its launcher, on a machine with a core for each process: far
/// beyond what it should take.
constexpr double launcher_end_seconds = 10;

/// How many processes share a core, at least 1.
double processes_per_core() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return 1;
  return std::max(1.0, load / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
}

bool says(const JobOutcome& outcome, std::string_view words) {
  return outcome.errors.find(words) != std::string::npos;
}

/// The lines of each rank in their order: "rank 2 …" belongs to rank 2, all else to one group.
std::map<std::string, std::string> by_rank(const std::string& output) {
  std::map<std::string, std::string> groups;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::string group;
    if (line.starts_with("rank ")) group = line.substr(0, line.find(' ', 5));
    groups[group] += line + "\n";
  }
  return groups;
}

class Judge {
 public:
  Judge(const Plan& plan, const JobOutcome& outcome, const Reference& reference)
      : plan_(plan), outcome_(outcome), reference_(reference) {
    report_ = Json::parse(outcome.report, nullptr, false);
    if (!report_.is_object()) report_ = nullptr;
  }

  Verdict run() {
    if (!report_.is_null()) read_figures();
    if (outcome_.hung) wrong("the run hung");
    if (!outcome_.left_behind.empty()) wrong("processes are left:\n" + outcome_.left_behind);
    if (outcome_.exit_code == 99 || says(outcome_, "WRONG ANSWER"))
      wrong("the program found its own answer wrong");
    verdict_.missed = missed();
    if (outcome_.hung) return verdict_;
    check_expectation();
    return verdict_;
  }

 private:
  void wrong(std::string sentence) { verdict_.wrong.push_back(std::move(sentence)); }

  bool counts(const Json& death) const {
    const std::string phase = death.value("phase", "");
    if (phase == "before_init" || death.value("signal", Json()) != Json(SIGKILL)) return false;
    return plan_.in_init || death.value("sent_before", false);
  }

  void read_figures() {
    Figures& figures = verdict_.figures;
    read_fired();
    for (const Json& death : report_.value("deaths", Json::array())) {
      figures.deaths++;
      if (death.contains("replay_s") && death["replay_s"].is_number())
        figures.replay_seconds.push_back(death["replay_s"]);
      if (!counts(death)) continue;
      figures.counted++;
      figures.counted_by_clock += by_clock(death);
      std::string where = death.value("mpi_call", "");
      const std::string phase = death.value("phase", "");
      if (phase == "finalized" && where.empty()) where = "after MPI_Finalize";
      if (where.empty()) where = "(own code)";
      if (death.value("replaying", false)) where += " in replay";
      figures.where[where]++;
    }
    const Json totals = report_.value("totals", Json::object());
    figures.sends_compared = totals.value("sends_compared", std::uint64_t{0});
    figures.determinants_replayed = totals.value("determinants_replayed", std::uint64_t{0});
  }

  /// Whether the runner killed this process, or a timed rule of its rank fired that no other death has used
  /// up.
  bool by_clock(const Json& death) {
    const pid_t pid = death.value("pid", 0);
    if (std::count(outcome_.killed.begin(), outcome_.killed.end(), pid) > 0) return true;
    for (auto rule = fired_.begin(); rule != fired_.end(); ++rule) {
      const int rank = death.value("rank", -1);
      if (!rule->starts_with(fmt::format("kill rank {} after ", rank)) &&
          !rule->starts_with(fmt::format("stop rank {} after ", rank)))
        continue;
      fired_.erase(rule);
      return true;
    }
    return false;
  }

  void read_fired() {
    for (const Json& injection : report_.value("injections", Json::array()))
      if (injection.value("fired", false)) fired_.push_back(injection.value("rule", ""));
  }

  void check_expectation() {
    switch (plan_.expectation) {
      case Expectation::right_answer:
        check_right();
        break;
      case Expectation::silent_replaced:
        check_right();
        check_silent();
        break;
      case Expectation::unharmed:
        check_right();
        check_unharmed();
        break;
      case Expectation::right_or_limit:
        if (outcome_.exit_code == 0 || !says(outcome_, "max_replacements")) check_right();
        break;
      case Expectation::fault_reported:
        check_fault();
        break;
      case Expectation::diverged:
        check_diverged();
        break;
      case Expectation::own_will:
        check_own_will();
        break;
      case Expectation::launcher_lost:
        check_launcher_lost();
        break;
      case Expectation::deadlock_named:
        check_deadlock();
        break;
    }
  }

  bool missed() const {
    if (plan_.expectation == Expectation::launcher_lost)
      return outcome_.kills_done == 0 || (outcome_.exit_code == 0 && outcome_.output == reference_.output);
    return plan_.needs_hit && verdict_.figures.counted == 0;
  }

  bool has_report() {
    if (report_.is_null()) wrong("there is no report, or it is not JSON");
    return !report_.is_null();
  }

  void check_right() {
    check_code(0);
    check_output();
    if (!has_report()) return;
    if (report_.value("exit_code", -1) != 0) wrong("the report has another exit code");
    if (report_.value("replacements", -1) != verdict_.figures.deaths)
      wrong(fmt::format("{} deaths, but {} replacements", verdict_.figures.deaths,
                        report_.value("replacements", -1)));
    bool sent = false;
    for (const Json& death : report_.value("deaths", Json::array())) {
      if (death.value("signal", Json()) != Json(SIGKILL))
        wrong("a rank died of something else than our SIGKILL");
      sent = sent || death.value("sent_before", false);
    }
    if (sent && verdict_.figures.sends_compared == 0)
      wrong("a rank died after its first send, and no send was compared");
    if (!sent && verdict_.figures.sends_compared != 0)
      wrong("sends were compared, though nobody died after one");
  }

  /// Every death is one by the lease, found in time: a machine with a core for each process needs half a
  /// lease more at most.
  void check_silent() {
    if (verdict_.figures.deaths > 1)
      wrong(fmt::format("{} ranks died, and one was to", verdict_.figures.deaths));
    for (const Json& death : report_.value("deaths", Json::array())) {
      const Json silence = death.value("liveliness_lost", Json());
      if (!silence.is_string() || silence.get<std::string>().find("stopped") == std::string::npos)
        wrong("a rank died of something else than having been stopped");
      const double seconds = death.value("detected_after_s", -1.0);
      if (seconds < plan_.lease_seconds || seconds > plan_.lease_seconds + 0.5 * processes_per_core())
        wrong(fmt::format("the silence was found after {:.3f} s", seconds));
      verdict_.figures.silence_seconds.push_back(seconds + death.value("respawn_s", 0.0));
    }
  }

  /// Not even a starved rank: on a machine with far more work than cores each process still runs a little in
  /// every second.
  void check_unharmed() {
    for (const Json& death : report_.value("deaths", Json::array()))
      wrong(fmt::format("rank {} died, and nobody was to: {}", death.value("rank", -1),
                        death.value("liveliness_lost", Json()).dump()));
  }

  void check_code(int expected) {
    if (outcome_.exit_code != expected) wrong(fmt::format("code {}, not {}", outcome_.exit_code, expected));
  }

  void check_output() {
    if (outcome_.output == reference_.output) return;
    const auto got = by_rank(outcome_.output), expected = by_rank(reference_.output);
    for (const auto& [group, text] : expected)
      if (const auto found = got.find(group); found == got.end() || found->second != text)
        wrong(fmt::format("stdout of {} is not that of a run without failures",
                          group.empty() ? "the job" : group));
    for (const auto& [group, text] : got)
      if (!expected.contains(group)) wrong(fmt::format("stdout has lines that are not expected: {}", text));
  }

  void check_fault() {
    check_code(plan_.exit_code);
    if (!says(outcome_, "deterministic application fault"))
      wrong("nothing names a deterministic application fault");
    if (!has_report()) return;
    int deaths = 0;
    for (const Json& death : report_.value("deaths", Json::array()))
      deaths += death.value("rank", -1) == 1 && death.value("signal", Json()) == Json(plan_.exit_code - 128);
    if (deaths != 2) wrong(fmt::format("rank 1 died {} times of its fault, not twice", deaths));
  }

  void check_diverged() {
    if (verdict_.figures.counted == 0) return check_right();
    if (outcome_.exit_code != exit_diverged)
      wrong(fmt::format("code {}, not {}", outcome_.exit_code, exit_diverged));
    if (!says(outcome_, "diverged")) wrong("nothing says that the replay diverged");
  }

  void check_own_will() {
    check_code(plan_.exit_code);
    if (!has_report()) return;
    int killed = 0;
    for (const Json& death : report_.value("deaths", Json::array()))
      killed += death.value("signal", Json()) == Json(SIGKILL);
    if (report_.value("replacements", -1) > killed) wrong("something else than our kill was replaced");
  }

  /// A rank that our kill has hit before was replaced first.
  void check_deadlock() {
    check_code(exit_deadlock);
    for (const std::string& words : plan_.said)
      if (!says(outcome_, words)) wrong(fmt::format("nothing says '{}'", words));
    if (!has_report()) return;
    const std::size_t told = report_.value("deadlocks", Json::array()).size();
    if (told != 1) wrong(fmt::format("{} deadlocks are told, not one", told));
    const Figures& figures = verdict_.figures;
    if (figures.deaths > static_cast<int>(plan_.rules.size()) ||
        report_.value("replacements", -1) != figures.deaths)
      wrong(fmt::format("{} deaths and {} replacements", figures.deaths, report_.value("replacements", -1)));
  }

  void check_launcher_lost() {
    if (outcome_.kills_done == 0) return check_code(0);
    if (outcome_.exit_code == 0 && outcome_.output == reference_.output) return;  // it was over already
    if (outcome_.exit_code == 0) wrong("code 0 without the whole output");
    if (outcome_.errors.empty()) wrong("nothing is said on stderr");
    if (outcome_.end_after_kill_seconds > launcher_end_seconds * processes_per_core())
      wrong(fmt::format("the job went on for {:.1f} s", outcome_.end_after_kill_seconds));
  }

  const Plan& plan_;
  const JobOutcome& outcome_;
  const Reference& reference_;
  Json report_;
  std::vector<std::string> fired_;  ///< rules that fired and are not yet matched with a death
  Verdict verdict_;
};

}  // namespace

Verdict judge(const Plan& plan, const JobOutcome& outcome, const Reference& reference) {
  return Judge(plan, outcome, reference).run();
}

}  // namespace llamada::failures
