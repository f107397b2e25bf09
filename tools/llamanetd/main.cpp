#include <CLI/CLI.hpp>
#include <cstdio>

#include "job.hpp"
#include "node.hpp"
#include "stand_alone.hpp"

int main(int argc, char** argv) {
  CLI::App app("The llamaNET driver of this node. DDS programs find it, or start one if there is none.",
               "llamanetd");
  llamada::tools::StandAloneOptions options;
  app.add_option("--name", options.name, "Listen at @llamada/<uid>/NAME")->capture_default_str();
  app.add_flag("--ends-with-last", options.ends_with_last, "End when the last application has left");
  app.add_option("--ready-descriptor", options.ready_descriptor,
                 "Write one byte to this file descriptor when applications can connect");
  bool job = false;
  int control_descriptor = -1, last_word_descriptor = -1;
  auto* job_flag = app.add_flag("--job", job, "Drive the job of the mpirun that started this process");
  app.add_option("--control-fd", control_descriptor,
                 "The socket to that mpirun; with --node: a pipe with the secret");
  app.add_option("--last-word-fd", last_word_descriptor,
                 "The process that has this lock prints why the job has ended");
  llamada::tools::NodeOptions node;
  bool drives_node = false;
  auto* node_option =
      app.add_option("--node", node.node, "Drive node N of a job whose mpirun runs on another host");
  app.add_option("--job-number", node.job_number, "The number of that job, 16 hexadecimal digits")
      ->needs(node_option);
  app.add_option("--coordinator", node.coordinators,
                 "Addresses of that mpirun's host, with commas between them")
      ->needs(node_option)
      ->delimiter(',');
  app.add_option("--port", node.port, "The port on that host")->needs(node_option);
  auto* drive_flag =
      app.add_flag("--drive-node", drives_node, "Drive the node, below a guardian")->needs(node_option);
  drive_flag->excludes(job_flag);
  std::string adopted;
  int report_descriptor = -1, manager_descriptor = -1;
  app.add_option(
      "--adopt", adopted,
      "The ranks of this node, \"rank:process\" with commas between them, which another launcher has "
      "started");
  app.add_option("--report-fd", report_descriptor, "A pipe to the first rank of --adopt");
  app.add_option("--manager-fd", manager_descriptor, "The socket between that rank and its launcher");
  CLI11_PARSE(app, argc, argv);
  node.control_descriptor = control_descriptor;
  node.last_word_descriptor = last_word_descriptor;
  auto processes = llamada::launcher::parse_adopted(adopted);
  if (!processes)
    return std::fprintf(stderr, "llamanetd: --adopt: %s\n", processes.error().text().c_str()), 1;
  llamada::launcher::Adoption adoption{std::move(*processes), llamada::FileDescriptor(report_descriptor),
                                       llamada::FileDescriptor(manager_descriptor)};
  if (drives_node) return llamada::tools::drive_node(node, std::move(adoption));
  if (node_option->count() > 0) return llamada::tools::run_node(node);
  if (job) return llamada::tools::run_job(control_descriptor, last_word_descriptor, std::move(adoption));
  return llamada::tools::run_stand_alone(options);
}
