#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "cpu_places.hpp"
#include "descriptor_limit.hpp"
#include "node_supervisor.hpp"
#include "rank_environment.hpp"
#include "rank_streams.hpp"
#include "spawn.hpp"

namespace llamada::launcher {

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

void NodeSupervisor::on(node::StartRanks&& message) {
  std::size_t done = 0;
  Status status;
  for (const node::RankStart& start : message.ranks) take_over(start);
  for (const node::RankStart& start : message.ranks)
    if (status) status = expect(start);
  while (status && done < message.ranks.size()) {
    const node::RankStart& next = message.ranks[done];
    status = start(ranks_[next.slot], next);
    if (status) ++done;
  }
  if (status && adopted_) report_places(message.ranks);
  if (status) return;
  tell_(node::CannotStart{message.ranks[done].slot, status.error().system_errno(), status.error().text()});
  for (; done < message.ranks.size(); ++done) not_started(ranks_[message.ranks[done].slot]);
}

/// The slot is the rank's from now on.
void NodeSupervisor::take_over(const node::RankStart& start) {
  if (start.slot >= ranks_.size()) ranks_.resize(start.slot + 1);
  RankProcess& rank = ranks_[start.slot];
  if (start.incarnation > 1) {
    rank.attached = 0;
    rank.attached_alive = false;
    rank.attached_status.reset();
    rank.incarnation = start.incarnation;
    return;
  }
  loop_.cancel(rank.timer);
  rank = RankProcess{};
  rank.slot = start.slot;
  rank.token = start.token;
  rank.life = ++lives_;
}

/// The rank's process may attach from now on.
Status NodeSupervisor::expect(const node::RankStart& start) {
  if (start.incarnation > 1) return arenas_->next_incarnation(start.slot, start.identity);
  return arenas_->expect(start.slot, start.token, start.identity);
}

/// A rank that has never run has nothing to wait for. A dead one stays fenced: the coordinator ends the job.
void NodeSupervisor::not_started(RankProcess& rank) {
  if (rank.incarnation > 1) return;
  drop_output(rank);
  rank.phase = ProcessPhase::finished;
  arenas_->set_done(rank.slot);
  tell_(node::Done{rank.slot, {}});
}

Status NodeSupervisor::open_streams(RankProcess& rank, RankStreams& streams) {
  for (int stream = 0; stream < 2; ++stream) {
    auto pipe = open_pipe();
    if (!pipe) return propagate(pipe);
    set_nonblocking(pipe->read_end);
    rank.pipes[stream] = std::move(pipe->read_end);
    (stream == 0 ? streams.output : streams.error) = std::move(pipe->write_end);
    loop_.watch(rank.pipes[stream].get(), output_held_ ? 0 : POLLIN,
                [this, slot = rank.slot, stream](short) { read_output(slot, stream); });
  }
  if (rank.slot != 0) {
    streams.input = above_standard(FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)));
    return {};
  }
  auto pipe = open_pipe();
  if (!pipe) return propagate(pipe);
  set_nonblocking(pipe->write_end);
  streams.input = std::move(pipe->read_end);
  input_.open(std::move(pipe->write_end));
  return {};
}

Status NodeSupervisor::start(RankProcess& rank, const node::RankStart& start) {
  if (is_adopted(rank)) return take_in(rank, start), Status();
  RankStreams streams;
  if (auto status = open_streams(rank, streams); !status) return status;
  if (wake_standby(rank, start, streams)) return {};
  SpawnRequest request;
  auto program = path_to_execute(start.program);
  if (!program) return propagate(program);
  request.program = std::move(*program);
  request.arguments = start.arguments;
  request.environment = start.environment;
  if (!arenas_->address().empty()) set_variable(request.environment, "LLAMADA_DRIVER", arenas_->address());
  request.working_directory = start.working_directory;
  request.standard_input = streams.input.get();
  request.standard_output = streams.output.get();
  request.standard_error = streams.error.get();
  request.signal_mask = original_.signal_mask;
  request.descriptor_limit = limit_for_rank(original_.descriptor_limit, ranks_.size());
  request.fixed_addresses = rebuilding_;
  if (!start.cpus.empty()) request.cpus = cpu_set_of(start.cpus);
  request.parent = getpid();
  auto process = spawn(request);
  if (!process) return propagate(process);
  if (process->addresses_errno != 0) addresses_randomised(process->addresses_errno);
  rank.root = rank.group = process->pid;
  rank.phase = ProcessPhase::running;
  rank.program = start.program;
  rank.working_directory = start.working_directory;
  rank.started_at = RankProcess::TimePoint::clock::now();
  tell_(node::Started{rank.slot, rank.root});
  return {};
}

/// All incarnations of all ranks execute the file that the first one did.
Result<std::string> NodeSupervisor::path_to_execute(const std::string& program) {
  if (!rebuilding_ || !program.starts_with('/')) return program;
  auto kept = programs_.find(program);
  if (kept == programs_.end()) kept = programs_.emplace(program, KeptProgram::open(program)).first;
  return kept->second.path_to_execute();
}

/// Said once.
void NodeSupervisor::addresses_randomised(int error_number) {
  if (std::exchange(told_.addresses, true)) return;
  tell_(control::Notice{
      fmt::format("mpirun: the system does not let mpirun turn off the randomisation of addresses ({}), as "
                  "in a container with "
                  "Docker's default seccomp profile. Ranks that die are replaced all the same, but a program "
                  "whose messages or "
                  "output depend on the addresses of its memory will end with \"replay diverged\". To allow "
                  "it: docker run "
                  "--security-opt seccomp=unconfined, or a profile that allows personality(2).\n",
                  std::strerror(error_number))});
}

}  // namespace llamada::launcher
