#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "cpu_places.hpp"
#include "descriptor_limit.hpp"
#include "job_driver_class.hpp"
#include "llamada/launcher/exit_codes.hpp"
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

void set(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  const std::string entry = fmt::format("{}={}", name, value);
  for (std::string& present : environment)
    if (present.size() > name.size() && present[name.size()] == '=' &&
        present.compare(0, name.size(), name) == 0) {
      present = entry;
      return;
    }
  environment.push_back(entry);
}

/// Large messages are copied between programs' own memory, by the kernel, page by page: of memory in huge
/// pages in a third of the time. glibc's malloc asks for them where this is set; where the system's
/// administrator leaves that to programs (transparent_hugepage "madvise"), it has a consequence.
std::string with_huge_pages(std::string tunables) {
  constexpr std::string_view tunable = "glibc.malloc.hugetlb";
  if (tunables.find(tunable) == std::string::npos)
    tunables += fmt::format("{}{}=1", tunables.empty() ? "" : ":", tunable);
  return tunables;
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
    rank.output[stream].pipe = std::move(pipe->read_end);
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

/// The same for every incarnation, byte for byte: it lies on the new process's stack.
std::vector<std::string> JobDriver::environment_of(const RankProcess& rank) const {
  const JobWorld& world = world_of(rank);
  std::vector<std::string> environment = job_.environment;
  const std::string number = std::to_string(rank_in_world(rank));
  const std::string size = std::to_string(world.count);
  if (injector_->needs_crash_points()) {
    std::string path = job_.crash_point_library_directory;
    for (const std::string& entry : job_.environment)
      if (entry.starts_with("LD_LIBRARY_PATH=")) path += ":" + entry.substr(entry.find('=') + 1);
    set(environment, "LD_LIBRARY_PATH", path);
  }
  if (!arenas_->address().empty()) set(environment, "LLAMADA_DRIVER", arenas_->address());
  // Slots: of mpirun's own world they are the ranks.
  set(environment, "LLAMADA_RANK", std::to_string(rank.rank));
  set(environment, "LLAMADA_SIZE", size);
  set(environment, "LLAMADA_TOKEN", std::to_string(token_of(rank)));
  if (world.number != 0) {
    set(environment, "LLAMADA_FIRST", std::to_string(world.first));
    set(environment, "LLAMADA_APPNUM", std::to_string(world.command_number(rank_in_world(rank))));
  }
  if (rebuilding()) set(environment, "LLAMADA_RECORD", "1");
  constexpr const char* tunables = "GLIBC_TUNABLES";
  set(environment, tunables, with_huge_pages(environment_value(tunables)));
  // A rank that is bound sees its own CPUs alone.
  int bound_cpus = 0;
  for (const std::string& place : job_.cpu_places) {
    const cpu_set_t cpus = cpu_set_of(place);
    bound_cpus += CPU_COUNT(&cpus);
  }
  if (bound_cpus > 0) set(environment, "LLAMADA_CPUS", std::to_string(bound_cpus));
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK",
                           "PMI_RANK", "MPI_LOCALRANKID"})
    set(environment, name, number);
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_UNIVERSE_SIZE",
                           "PMI_SIZE", "MPI_LOCALNRANKS"})
    set(environment, name, size);
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
