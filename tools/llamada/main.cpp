#include <CLI/CLI.hpp>

#include "doctor.hpp"
#include "ls.hpp"
#include "qos.hpp"

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
  CLI11_PARSE(app, argc, argv);
  if (check->parsed()) return llamada::tools::check_qos(request);
  if (match->parsed()) return llamada::tools::match_qos(request);
  if (ls->parsed()) return llamada::tools::list(as_json);
  if (doctor->parsed()) return llamada::tools::diagnose();
  return 1;
}
