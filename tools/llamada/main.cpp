#include <CLI/CLI.hpp>

#include "doctor.hpp"
#include "ls.hpp"
#include "qos.hpp"
#include "spy.hpp"
#include "top.hpp"
#include "why.hpp"

int main(int argc, char** argv) {
  CLI::App app("Looks at Llamada's drivers, jobs and topics on this node.", "llamada");
  app.require_subcommand(1);
  bool as_json = false;
  auto* ls =
      app.add_subcommand("ls", "List the running drivers and jobs, their applications, writers and readers");
  ls->add_flag("--json", as_json, "Print JSON instead of text");
  auto* doctor = app.add_subcommand(
      "doctor", "Say what an administrator could set on this node, and what it would bring");
  llamada::tools::QosRequest request;
  auto* qos = app.add_subcommand("qos", "Look at QoS profiles");
  qos->require_subcommand(1);
  auto* check = qos->add_subcommand(
      "check",
      "Show a profile with all inheritance resolved, where each value comes from, and what it means");
  check->add_option("FILE", request.file, "A file, or the name of one as mpirun --qos takes it")->required();
  check->add_option("PROFILE", request.profile, "Which profile of the file, Library::Profile");
  auto* match =
      qos->add_subcommand("match", "Say whether a writer of A and a reader of B match, and why not");
  match->add_option("FILE", request.file, "A file, or the name of one as mpirun --qos takes it")->required();
  match->add_option("A", request.profile, "The writer's profile")->required();
  match->add_option("B", request.other, "The reader's profile")->required();
  for (auto* each : {check, match}) {
    each->add_option("--topic", request.topic, "The topic, for files with topic_filter");
    each->add_flag("--json", request.as_json, "Print JSON instead of text");
  }
  std::string topic;
  auto* why =
      app.add_subcommand("why", "Say of each writer and reader of a topic whether they match, and why not");
  why->add_option("TOPIC", topic, "The topic")->required();
  why->add_flag("--json", as_json, "Print JSON instead of text");
  llamada::tools::SpyOptions spied;
  auto* spy = app.add_subcommand("spy", "Show the samples of a topic as they come");
  spy->add_option("TOPIC", spied.topic, "The topic")->required();
  spy->add_option("--domain", spied.domain, "The domain; else the topic's, or 0");
  spy->add_option("--count", spied.count, "End after so many samples");
  spy->add_option("--bytes", spied.shown_bytes_max, "Show at most so many bytes of a sample (256)");
  spy->add_flag("--history", spied.with_history, "Also show what TRANSIENT_LOCAL writers have kept");
  spy->add_flag("--json", spied.as_json, "Print one line of JSON for each sample");
  llamada::tools::TopOptions watched;
  auto* top = app.add_subcommand("top", "Show the rates of writers and how far readers are behind, live");
  top->add_option("--interval", watched.interval_s, "Seconds between two looks (1)")
      ->check(CLI::Range(0.01, 86400.0));
  top->add_flag("--once", watched.once, "Show one interval and end");
  top->add_flag("--json", watched.as_json, "Print JSON instead of text");
  CLI11_PARSE(app, argc, argv);
  if (why->parsed()) return llamada::tools::explain(topic, as_json);
  if (spy->parsed()) return llamada::tools::spy(spied);
  if (top->parsed()) return llamada::tools::top(watched);
  if (check->parsed()) return llamada::tools::check_qos(request);
  if (match->parsed()) return llamada::tools::match_qos(request);
  if (ls->parsed()) return llamada::tools::list(as_json);
  if (doctor->parsed()) return llamada::tools::diagnose();
  return 1;
}
