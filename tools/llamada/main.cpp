#include <CLI/CLI.hpp>

#include "doctor.hpp"
#include "ls.hpp"

int main(int argc, char** argv) {
  CLI::App app("Looks at Llamada's drivers, jobs and topics on this node.", "llamada");
  app.require_subcommand(1);
  bool as_json = false;
  auto* ls =
      app.add_subcommand("ls", "List the running drivers and jobs, their applications, writers and readers");
  ls->add_flag("--json", as_json, "Print JSON instead of text");
  auto* doctor = app.add_subcommand(
      "doctor", "Say what an administrator could set on this node, and what it would bring");
  CLI11_PARSE(app, argc, argv);
  if (ls->parsed()) return llamada::tools::list(as_json);
  if (doctor->parsed()) return llamada::tools::diagnose();
  return 1;
}
