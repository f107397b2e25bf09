#include "process/process.hpp"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "process/numbers.hpp"
#include "world/in_process.hpp"
#include "world/last_output.hpp"
#include "world/llamanet.hpp"

namespace llamada::mpi {
namespace {

enum class Joining : int { not_yet, now, done };

// The process's one World (see early_world). Written by the thread that joins; `joining` is stored with
// release order behind it and loaded with acquire order before it is used.
std::atomic<Joining> joining{Joining::not_yet};
World* the_world = nullptr;
PmiJob* the_manager = nullptr;
pid_t joined_pid = 0;

/// The kernel's answer: the program may see the first incarnation's.
pid_t own_pid() { return static_cast<pid_t>(syscall(SYS_getpid)); }

void say(const std::string& reason) {
  write_last_output([](void*) { _exit(1); }, nullptr);
  fmt::print(stderr, "llamada: {}\n", reason);
  std::fflush(stderr);
}

[[noreturn]] void cannot_join(const std::string& reason) {
  say(reason);
  _exit(1);
}

World* join_job() {
  LaunchedRank launched;
  const char* driver = std::getenv("LLAMADA_DRIVER");
  if (driver == nullptr || !read_variable("LLAMADA_RANK", launched.rank) ||
      !read_variable("LLAMADA_SIZE", launched.size) || !read_variable("LLAMADA_TOKEN", launched.token))
    cannot_join(
        "LLAMADA_RANK is set, but LLAMADA_DRIVER, LLAMADA_SIZE or LLAMADA_TOKEN is missing or no number; "
        "start the "
        "program with Llamada's mpirun");
  launched.driver = driver;
  static_cast<void>(read_variable("LLAMADA_FIRST", launched.first));
  static_cast<void>(read_variable("LLAMADA_CPUS", launched.cpus));
  auto world = attach_to_driver(launched);
  if (!world)
    cannot_join(
        fmt::format("rank {} cannot join its job: {}", launched.rank - launched.first, world.error().text()));
  return world->release();
}

World* join_by_process_manager() {
  auto job = PmiJob::join([](const Error& error) {
    say(fmt::format("rank {} cannot join its job: {}", std::getenv("PMI_RANK"), error.text()));
  });
  if (!job) _exit(1);
  auto world = attach_to_driver((*job)->rank());
  if (!world)
    cannot_join(fmt::format("rank {} cannot join its job: {}", (*job)->rank().rank, world.error().text()));
  the_manager = job->release();  // As the World: for as long as the process lives.
  return world->release();
}

/// Another launcher's processes would each be rank 0 of a job of its own: never silently.
void refuse_other_launchers() {
  if (std::getenv("LLAMADA_SINGLETON") != nullptr) return;
  for (const char* name :
       {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    int size = 0;
    if (!read_variable(name, size) || size <= 1) continue;
    cannot_join(fmt::format(
        "this program was started by another launcher ({}={}), which offers no PMI_FD. With Llamada's MPI "
        "library each of its processes would be a job of one rank; start it with Llamada's mpirun -n {}, "
        "with srun --mpi=pmi2, or set LLAMADA_SINGLETON=1 if you want jobs of one rank",
        name, size, size));
  }
}

World* make_singleton() {
  refuse_other_launchers();
  InProcessJob::Options options;
  options.ends_process = true;
  auto job = InProcessJob::create(std::move(options));
  if (!job) cannot_join(job.error().text());
  auto world = (*job)->attach(0);
  if (!world) cannot_join(world.error().text());
  static_cast<void>(job->release());  // As the World: for as long as the process lives.
  return world->release();
}

}  // namespace

bool is_launched() { return std::getenv("LLAMADA_RANK") != nullptr; }

World* joined_world() {
  if (joining.load(std::memory_order_acquire) != Joining::done) return nullptr;
  return own_pid() == joined_pid ? the_world : nullptr;
}

PmiJob* process_manager() { return joined_world() ? the_manager : nullptr; }

World* early_world() {
  auto expected = Joining::not_yet;
  // Acquire: what who joined has written; the store is ordered by the one below.
  if (!joining.compare_exchange_strong(expected, Joining::now, std::memory_order_acquire))
    return joined_world();
  joined_pid = own_pid();
  the_world = is_launched() ? join_job() : PmiJob::is_there() ? join_by_process_manager() : make_singleton();
  joining.store(Joining::done, std::memory_order_release);
  return the_world;
}

}  // namespace llamada::mpi
