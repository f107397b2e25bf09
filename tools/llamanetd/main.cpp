#include <CLI/CLI.hpp>

#include "job.hpp"
#include "stand_alone.hpp"

int main(int argc, char** argv) {
  CLI::App app(
      "The llamaNET driver of this node: DDS programs find it, and start one themselves when there is none.",
      "llamanetd");
  llamada::tools::StandAloneOptions options;
  app.add_option("--name", options.name, "Listen at @llamada/<uid>/NAME")->capture_default_str();
  app.add_flag("--ends-with-last", options.ends_with_last, "End when the last application has left");
  app.add_option("--ready-descriptor", options.ready_descriptor,
                 "Write one byte to this file descriptor when applications can connect");
  bool job = false;
  int control_descriptor = -1, last_word_descriptor = -1;
  auto* job_flag = app.add_flag("--job", job, "Drive the job of the mpirun that started this process");
  app.add_option("--control-fd", control_descriptor, "The socket to that mpirun")->needs(job_flag);
  app.add_option("--last-word-fd", last_word_descriptor, "Who has it says why the job has ended")
      ->needs(job_flag);
  CLI11_PARSE(app, argc, argv);
  if (job) return llamada::tools::run_job(control_descriptor, last_word_descriptor);
  return llamada::tools::run_stand_alone(options);
}
