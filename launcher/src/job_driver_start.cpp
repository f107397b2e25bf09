#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "cpu_places.hpp"
#include "descriptor_limit.hpp"
#include "job_driver_class.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "rank_environment.hpp"
#include "spawn.hpp"

namespace llamada::launcher {

/// The ends of a rank's pipes that the rank gets.
class RankStreams {
 public:
  FileDescriptor input, output, error;
};

namespace {

struct Pipe {
  FileDescriptor read_end, write_end;
};

/// A descriptor above the standard ones, so that putting a standard one in place never overwrites another.
FileDescriptor above_standard(FileDescriptor descriptor) {
  if (!descriptor || descriptor.get() > 2) return descriptor;
  return FileDescriptor(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3));
}

Result<Pipe> open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure("pipe");
  return Pipe{above_standard(FileDescriptor(ends[0])), above_standard(FileDescriptor(ends[1]))};
}

void set_nonblocking(const FileDescriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

void JobDriver::start_all() {
  worlds_[0] = {
      0, 0, job_.rank_count, 0, job_.rank_count, {{job_.program, job_.arguments, job_.working_directory}},
      {}};
  ranks_.resize(job_.rank_count);
  for (std::uint32_t rank = 0; rank < job_.rank_count; ++rank) ranks_[rank].rank = rank;
  for (RankProcess& rank : ranks_)
    if (auto status = arenas_->expect(rank.rank, token_of(rank), identity_of(rank)); !status)
      return cannot_start(status.error());
  injector_->job_started();
  for (RankProcess& rank : ranks_)
    if (auto status = start_rank(rank); !status) return cannot_start(status.error());
}

void JobDriver::cannot_start(const Error& error) {
  // What has not been started has nothing to wait for.
  for (RankProcess& rank : ranks_)
    if (rank.root == 0 && rank.phase == RankPhase::running) {
      drop_output(rank);
      rank.phase = RankPhase::finished;
    }
  begin_ending(error.system_errno() == ENOENT ? exit_not_found : exit_not_executable,
               fmt::format("mpirun: {}.\n", error.text()));
}

Status JobDriver::open_streams(RankProcess& rank, RankStreams& streams) {
  for (int stream = 0; stream < 2; ++stream) {
    auto pipe = open_pipe();
    if (!pipe) return propagate(pipe);
    set_nonblocking(pipe->read_end);
    rank.pipes[stream] = std::move(pipe->read_end);
    (stream == 0 ? streams.output : streams.error) = std::move(pipe->write_end);
    watch_output(rank, stream);
  }
  if (rank.rank != 0) {
    streams.input = above_standard(FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)));
    return {};
  }
  auto pipe = open_pipe();
  if (!pipe) return propagate(pipe);
  set_nonblocking(pipe->write_end);
  streams.input = std::move(pipe->read_end);
  rank.input = std::move(pipe->write_end);
  rank.input_given = 0;
  return {};
}

Status JobDriver::start_rank(RankProcess& rank) {
  RankStreams streams;
  if (auto status = open_streams(rank, streams); !status) return status;
  const Command& command = command_of(rank);
  SpawnRequest request;
  auto program = path_to_execute(command.program);
  if (!program) return propagate(program);
  request.program = std::move(*program);
  request.arguments = command.arguments;
  request.environment = environment_of(rank);
  request.working_directory = command.working_directory;
  request.standard_input = streams.input.get();
  request.standard_output = streams.output.get();
  request.standard_error = streams.error.get();
  request.signal_mask = original_mask_;
  request.descriptor_limit = limit_for_rank(original_descriptor_limit_, ranks_.size());
  request.fixed_addresses = rebuilding();
  if (!job_.cpu_places.empty())
    request.cpus = cpu_set_of(job_.cpu_places[rank.rank % job_.cpu_places.size()]);
  request.parent = getpid();
  auto process = spawn(request);
  if (!process) return propagate(process);
  if (process->addresses_errno != 0) addresses_randomised(process->addresses_errno);
  rank.root = rank.group = process->pid;
  rank.phase = RankPhase::running;
  rank.started_at = RankProcess::TimePoint::clock::now();
  if (job_.verbose)
    say(fmt::format("mpirun: {} is process {} (incarnation {}).\n", name_of(rank), rank.root,
                    rank.incarnation));
  injector_->rank_started(rank.rank, rank.incarnation);
  if (rank.rank == 0) give_input();
  return {};
}

/// All incarnations of all ranks execute the file that the first one did.
Result<std::string> JobDriver::path_to_execute(const std::string& program) {
  if (!rebuilding() || !program.starts_with('/')) return program;
  auto kept = programs_.find(program);
  if (kept == programs_.end()) kept = programs_.emplace(program, KeptProgram::open(program)).first;
  return kept->second.path_to_execute();
}

/// Said once for the job.
void JobDriver::addresses_randomised(int error_number) {
  if (std::exchange(addresses_randomised_, true)) return;
  say(
      fmt::format("mpirun: the system does not let mpirun turn off the randomisation of addresses ({}), as "
                  "in a container with "
                  "Docker's default seccomp profile. Ranks that die are replaced all the same, but a program "
                  "whose messages or "
                  "output depend on the addresses of its memory will end with \"replay diverged\". To allow "
                  "it: docker run "
                  "--security-opt seccomp=unconfined, or a profile that allows personality(2).\n",
                  std::strerror(error_number)));
}

std::vector<std::string> JobDriver::environment_of(const RankProcess& rank) const {
  auto environment = environment_of_rank(
      {job_, world_of(rank), rank.rank, token_of(rank), rebuilding(), injector_->needs_crash_points()});
  if (!arenas_->address().empty()) set_variable(environment, "LLAMADA_DRIVER", arenas_->address());
  return environment;
}

std::string JobDriver::identity_of(const RankProcess& rank) const {
  std::string lines = fmt::format("host={}\n", host_);
  const JobWorld& world = world_of(rank);
  if (world.number != 0) lines += fmt::format("world={}\nspawned_by={}\n", world.number, world.parent);
  if (rank.incarnation > 1) lines += fmt::format("calls={}\n", rank.calls);
  if (rank.first_attached != 0) lines += fmt::format("first_pid={}\n", rank.first_attached);
  return lines + injector_->identity_lines(rank.rank, rank.incarnation);
}

}  // namespace llamada::launcher
