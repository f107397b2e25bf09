#include <fmt/format.h>

#include <charconv>
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "doctor.hpp"
#include "inject.hpp"
#include "job.hpp"
#include "llamada/base/nearest_word.hpp"
#include "ls.hpp"
#include "move.hpp"
#include "persist.hpp"
#include "qos.hpp"
#include "rank_spy.hpp"
#include "record.hpp"
#include "replay.hpp"
#include "spy.hpp"
#include "top.hpp"
#include "why.hpp"
#include "why_job.hpp"

namespace llamada::tools {
namespace {

constexpr int usage_error = 2;

/// What the command line asks for; its result is the exit code.
using Action = std::function<int()>;

int fail_usage(const std::string& what) {
  fmt::print(stderr, "llamada: {}\n", what);
  return usage_error;
}

/// Each function adds one command, which sets `chosen` when it is on the command line.
void add_ls(CLI::App& app, Action& chosen) {
  auto as_json = std::make_shared<bool>(false);
  auto* ls =
      app.add_subcommand("ls", "List the running drivers and jobs, their applications, writers and readers");
  ls->add_flag("--json", *as_json, "Print JSON instead of text");
  ls->callback([&chosen, as_json] { chosen = [as_json] { return list(*as_json); }; });
}

void add_job(CLI::App& app, Action& chosen) {
  auto store = std::make_shared<std::string>();
  auto number = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  auto* job =
      app.add_subcommand("job", "List or remove the records of jobs that mpirun --resume can go on with");
  job->require_subcommand(1);
  auto* ls = job->add_subcommand("ls", "List the kept jobs, and whether each can be resumed");
  ls->add_flag("--json", *as_json, "Print JSON instead of text");
  ls->callback(
      [&chosen, store, as_json] { chosen = [store, as_json] { return list_kept_jobs(*store, *as_json); }; });
  auto* rm = job->add_subcommand("rm", "Remove the record of a job, which can then no longer be resumed");
  rm->add_option("JOB", *number, "Its number, or the first digits of it")->required();
  rm->callback(
      [&chosen, store, number] { chosen = [store, number] { return remove_kept_job(*store, *number); }; });
  for (auto* each : {ls, rm})
    each->add_option("--store", *store,
                     "The directory of the jobs; without it LLAMADA_STORE, or ~/.local/state/llamada/jobs");
}

void add_persist(CLI::App& app, Action& chosen) {
  auto request = std::make_shared<PersistRequest>();
  auto* persist = app.add_subcommand("persist", "Look at the store in which llamada-persistd keeps topics");
  persist->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, int (*action)(const PersistRequest&)) {
    auto* command = persist->add_subcommand(name, what);
    command->add_option("STORE", request->store, "The directory of the store")->required();
    command->callback(
        [&chosen, request, action] { chosen = [request, action] { return action(*request); }; });
    return command;
  };
  auto* ls = add("ls", "List the topics, with their policies and how much is kept of each", list_kept_topics);
  auto* show = add("show", "Show the samples of a topic", show_kept_topic);
  add("check", "Read everything, and say what is damaged", check_kept_topics);
  auto* copy = add("copy", "Copy everything into a new store, also while the service runs", copy_kept_topics);
  copy->add_option("TO", request->copy, "The directory of the copy, which must not exist")->required();
  copy->add_option("--store-kind", request->kind,
                   "What the copy is: segments, or sqlite for a database that sqlite3 reads; without it the "
                   "same as the store");
  auto* drop = add("drop", "Remove a topic; the service must not run", drop_kept_topic);
  for (auto* each : {show, drop}) {
    each->add_option("TOPIC", request->topic, "The topic")->required();
    each->add_option("--domain", request->domain, "The domain; without it all");
  }
  show->add_option("--count", request->count, "Show only the newest so many samples");
  for (auto* each : {ls, show}) each->add_flag("--json", request->as_json, "Print JSON instead of text");
}

void add_doctor(CLI::App& app, Action& chosen) {
  auto* doctor = app.add_subcommand(
      "doctor", "List settings of this node that an administrator could improve, and what each would bring");
  auto request = std::make_shared<bool>(false);
  doctor->add_flag("--nodes", *request,
                   "Test the hosts of a job and the links between them instead. After it, give mpirun's "
                   "options for hosts (--host, --hostfile, --launcher, --launcher-exec) and a program");
  doctor->prefix_command();
  doctor->callback([&chosen, doctor, request] {
    const auto rest = doctor->remaining();
    if (!*request && !rest.empty()) throw CLI::ExtrasError("doctor", rest);
    chosen = *request ? Action([rest] { return diagnose_nodes(rest); }) : Action(diagnose);
  });
}

void add_qos(CLI::App& app, Action& chosen) {
  auto request = std::make_shared<QosRequest>();
  auto* qos = app.add_subcommand("qos", "Look at QoS profiles");
  qos->require_subcommand(1);
  auto* check = qos->add_subcommand(
      "check",
      "Show a profile with all inheritance resolved, where each value comes from, and what it means");
  check->add_option("FILE", request->file, "A file, or a name as in mpirun --qos")->required();
  check->add_option("PROFILE", request->profile, "The profile in the file, Library::Profile");
  check->callback([&chosen, request] { chosen = [request] { return check_qos(*request); }; });
  auto* match =
      qos->add_subcommand("match", "Say whether a writer of A and a reader of B match, and why not");
  match->add_option("FILE", request->file, "A file, or a name as in mpirun --qos")->required();
  match->add_option("A", request->profile, "The writer's profile")->required();
  match->add_option("B", request->other, "The reader's profile")->required();
  match->callback([&chosen, request] { chosen = [request] { return match_qos(*request); }; });
  for (auto* each : {check, match}) {
    each->add_option("--topic", request->topic, "The topic, for files with topic_filter");
    each->add_flag("--json", request->as_json, "Print JSON instead of text");
  }
}

/// "rank N [JOB]" and "job [JOB]" are of a job; else a topic.
int explain_words(const std::vector<std::string>& words, bool as_json) {
  const std::string job = words.size() > 2 ? words[2] : std::string();
  if (words[0] == "job" && words.size() <= 2) return explain_job(words.size() == 2 ? words[1] : job, {});
  if (words.size() == 1 && words[0].starts_with("job-")) return explain_job(words[0], {});
  if (words.size() == 1) return explain(words[0], as_json);
  std::uint32_t rank = 0;
  const std::string& number = words[1];
  const auto read = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (words[0] != "rank" || read.ec != std::errc() || read.ptr != number.data() + number.size())
    return fail_usage("why takes a TOPIC, 'rank N', 'rank N JOB', 'job' or 'job JOB'");
  return explain_job(job, rank);
}

void add_why(CLI::App& app, Action& chosen) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto as_json = std::make_shared<bool>(false);
  auto* why = app.add_subcommand(
      "why",
      "Explain why the writers and readers of a topic match or do not, or which ranks of a job "
      "wait for which");
  why->add_option(
         "TOPIC", *words,
         "The topic; or 'rank N [JOB]' or 'job [JOB]'. JOB is a name that `llamada ls` shows, or the "
         "pid of mpirun")
      ->required()
      ->expected(1, 3);
  why->add_flag("--json", *as_json, "Print JSON instead of text (only for a topic)");
  why->callback(
      [&chosen, words, as_json] { chosen = [words, as_json] { return explain_words(*words, *as_json); }; });
}

/// The options that are of `spy ranks` only.
std::shared_ptr<RankSpyOptions> add_spy_ranks(CLI::App& spied) {
  auto ranks = std::make_shared<RankSpyOptions>();
  spied.add_option("JOB", ranks->job,
                   "With ranks: the job, by its name or mpirun's process id; without it the only job");
  spied.add_option("--from", ranks->watch.from, "With ranks: show only messages from this rank");
  spied.add_option("--to", ranks->watch.to, "With ranks: show only messages to this rank");
  spied.add_option("--tag", ranks->watch.tag, "With ranks: show only messages with this tag");
  spied.add_flag("--collectives", ranks->watch.with_collectives,
                 "With ranks: also show the records of collectives");
  spied.add_flag("--publish", ranks->publishes,
                 "With ranks: publish the messages on the topics llamada/messages and llamada/events");
  spied
      .add_option("--depth", ranks->publisher.depth,
                  "With --publish: how many messages are kept for late readers (100000)")
      ->check(CLI::Range(1, 100'000'000));
  return ranks;
}

void add_spy(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<SpyOptions>();
  auto* spied = app.add_subcommand(
      "spy", "Show the samples of a topic as they come; for the topic `ranks`, a job's messages");
  spied->add_option("TOPIC", options->topic, "The topic, or `ranks`")->required();
  const auto ranks = add_spy_ranks(*spied);
  spied->add_option("--domain", options->domain, "The domain; without it the topic's, or 0");
  spied->add_option("--count", options->count, "End after this many samples");
  spied->add_option("--where", options->where, "Show only samples that pass this filter, \"value > 3\"");
  spied
      ->add_option("--bytes", options->shown_bytes_max,
                   "Show bytes instead of fields, at most this many of a sample")
      ->each([options](const std::string&) { options->as_bytes = true; });
  spied->add_flag("--history", options->with_history,
                  "First show the samples that TRANSIENT_LOCAL writers have kept");
  spied->add_flag("--json", options->as_json, "Print one line of JSON for each sample");
  spied->add_flag("--csv", options->as_csv, "Print one line of comma-separated values for each sample")
      ->excludes("--json")
      ->excludes("--bytes");
  spied->callback([&chosen, options, ranks] {
    if (const std::string why = unfitting_option(*options, *ranks); !why.empty())
      throw CLI::ValidationError(why);
    chosen = [options, ranks] {
      return is_for_ranks(*options, *ranks) ? spy_on_ranks(*options, *ranks) : spy(*options);
    };
  });
}

void add_record(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<RecordOptions>();
  auto* recorded =
      app.add_subcommand("record", "Record in a file all that the writers of topics do, for replay");
  recorded->add_option("-o,--output", options->file, "The file; an existing one is replaced")->required();
  recorded->add_option("--topic", options->topics, "A topic; may be repeated; without it all topics")
      ->expected(1);
  recorded->add_option("--domain", options->domain, "The domain; without it the topic's, or 0");
  recorded->add_option("--count", options->count, "End after this many samples");
  recorded->add_flag("--best-effort", options->best_effort,
                     "Let no writer wait for the recorder; samples that come too fast are lost");
  recorded->callback([&chosen, options] { chosen = [options] { return record(*options); }; });
}

void add_replay(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ReplayOptions>();
  auto* replayed = app.add_subcommand("replay", "Repeat all that the writers of a recording did");
  replayed->add_option("FILE", options->file, "A file of `llamada record`")->required();
  replayed->add_option("--rate", options->rate, "Replay this many times as fast as recorded (1)")
      ->check(CLI::Range(1e-6, 1e9));
  replayed->add_flag("--loop", options->loop, "Repeat the replay until it is interrupted");
  replayed
      ->add_option("--wait", options->wait_s,
                   "Seconds to wait for a reader of each topic; 0: begin at once; without it no limit")
      ->check(CLI::Range(0.0, 1e9));
  replayed->add_option("--topic", options->topics, "Replay only this topic; may be repeated")->expected(1);
  replayed->add_option("--domain", options->domain, "The domain; without it that of the recording");
  replayed->callback([&chosen, options] { chosen = [options] { return replay(*options); }; });
}

void add_top(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<TopOptions>();
  auto* watched = app.add_subcommand(
      "top", "Show the current rates of writers and ranks, and how far readers are behind");
  watched->add_option("--interval", options->interval_s, "Seconds between two tables (1)")
      ->check(CLI::Range(0.01, 86400.0));
  watched->add_flag("--once", options->once, "Show one table and end");
  watched->add_flag("--json", options->as_json, "Print JSON instead of text");
  watched->callback([&chosen, options] { chosen = [options] { return top(*options); }; });
}

void add_job_option(CLI::App& command, std::string& job) {
  command
      .add_option("JOB", job, "The job's number in `llamada ls`, its first digits, or mpirun's process id")
      ->required();
}

void add_inject(CLI::App& app, Action& chosen) {
  auto words = std::make_shared<std::pair<std::string, std::string>>();
  auto* injected = app.add_subcommand("inject", "Cause a failure in a running job, to test it");
  add_job_option(*injected, words->first);
  injected->add_option("RULE", words->second, "A rule of mpirun --inject, 'kill rank 2 after 1 s'")
      ->required();
  injected->callback([&chosen, words] { chosen = [words] { return inject(words->first, words->second); }; });
}

void add_drain(CLI::App& app, Action& chosen) {
  auto words = std::make_shared<std::pair<std::string, std::string>>();
  auto* drained = app.add_subcommand(
      "drain", "Move all ranks of a running job away from a node; all ranks start again and catch up");
  add_job_option(*drained, words->first);
  drained->add_option("NODE", words->second, "The node, as mpirun's --host or --hostfile names it")
      ->required();
  drained->callback([&chosen, words] { chosen = [words] { return drain(words->first, words->second); }; });
}

struct MigrateWords {
  std::string job, node;
  std::uint32_t rank = 0;
};

void add_migrate(CLI::App& app, Action& chosen) {
  auto words = std::make_shared<MigrateWords>();
  auto* migrated = app.add_subcommand(
      "migrate", "Move one rank of a running job to another node; all ranks start again and catch up");
  add_job_option(*migrated, words->job);
  migrated->add_option("RANK", words->rank, "The rank; no other may share its node")->required();
  migrated->add_option("NODE", words->node, "A node of the job, or a spare one")->required();
  migrated->callback(
      [&chosen, words] { chosen = [words] { return migrate(words->job, words->rank, words->node); }; });
}

int print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* asked = &app;
  std::string name = "llamada";
  for (const std::string& word : words) {
    const auto inner =
        asked->get_subcommands([&word](const CLI::App* each) { return each->get_name() == word; });
    if (inner.empty())
      return fail_usage(fmt::format("there is no command '{0} {1}'; see '{0} --help'", name, word));
    asked = inner.front();
    name += " " + word;
  }
  // App::help() would explain the command on the command line, "help".
  fmt::print("{}", app.get_formatter()->make_help(asked, name, CLI::AppFormatMode::Normal));
  return 0;
}

void add_help(CLI::App& app, Action& chosen) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto* help = app.add_subcommand("help", "Explain a command and its options");
  help->add_option("COMMAND", *words, "The command");
  help->callback([&app, &chosen, words] { chosen = [&app, words] { return print_help(app, *words); }; });
}

/// A command, "llamada qos check".
struct Command {
  const CLI::App* app;
  std::string name;
};

/// The command that was being read when an error was found.
Command command_of(const CLI::App& app) {
  Command command{&app, "llamada"};
  while (!command.app->get_subcommands().empty()) {
    command.app = command.app->get_subcommands().front();
    command.name += " " + command.app->get_name();
  }
  return command;
}

/// The first word that stands where the name of a command should, and is none; empty: there is no such word.
std::string unknown_command(const Command& command) {
  const auto words = command.app->remaining();
  const bool takes_commands = !command.app->get_subcommands([](const CLI::App*) { return true; }).empty();
  return !takes_commands || words.empty() || words.front().starts_with("-") ? "" : words.front();
}

std::string text_of(const CLI::ParseError& error, const Command& command) {
  const std::string word = unknown_command(command);
  if (word.empty()) return error.what();
  std::vector<std::string> names;
  for (const auto* each : command.app->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view nearest = nearest_word(word, views);
  return fmt::format("there is no command '{} {}'{}", command.name, word,
                     nearest.empty() ? "" : fmt::format("; the nearest is '{}'", nearest));
}

int run(int argc, char** argv) {
  CLI::App app("Shows Llamada's drivers, jobs and topics on this node.", "llamada");
  app.set_version_flag("--version", "llamada (Llamada) " LLAMADA_VERSION);
  app.require_subcommand(1);
  Action chosen;
  for (auto* add : {add_ls, add_doctor, add_qos, add_why, add_spy, add_record, add_replay, add_top,
                    add_inject, add_drain, add_migrate, add_job, add_persist, add_help})
    add(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const Command command = command_of(app);
    return fail_usage(fmt::format("{}; see '{} --help'", text_of(error, command), command.name));
  }
  return chosen();
}

}  // namespace
}  // namespace llamada::tools

int main(int argc, char** argv) { return llamada::tools::run(argc, argv); }
