#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "job_driver_class.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "process_tree.hpp"

namespace llamada::launcher {
namespace {

/// While mpirun has more than this to take, the ranks' pipes are left alone, and the ranks wait.
constexpr std::size_t queued_bytes_max = 1 << 20;
constexpr std::size_t queued_bytes_low = 256 << 10;
/// Of the job's standard input, for replacements of rank 0.
constexpr std::size_t input_kept_bytes_max = 256 << 20;

}  // namespace

void JobDriver::watch_output(RankProcess& rank, int stream) {
  loop_.watch(rank.pipes[stream].get(), reading_paused_ ? 0 : POLLIN,
              [this, number = rank.rank, stream](short) { read_output(number, stream); });
}

void JobDriver::read_output(std::uint32_t number, int stream) {
  RankProcess& rank = ranks_[number];
  char bytes[control::part_size_bytes_max];
  const ssize_t count = read(rank.pipes[stream].get(), bytes, sizeof bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return output_ended(rank, stream);
  deliver(rank, stream, {bytes, static_cast<std::size_t>(count)});
}

void JobDriver::deliver(RankProcess& rank, int stream, std::string_view bytes) {
  look_at_libraries(rank);
  if (stream == 1) rank.errors.take(bytes);
  if (!rebuilding()) return pass_on(rank, stream, {std::string(bytes), {}});
  pass_on(rank, stream, rank.output.take(stream, bytes));
}

void JobDriver::pass_on(const RankProcess& rank, int stream, RankOutput::Delivery delivery) {
  if (delivery.difference) return output_diverged(rank, *delivery.difference);
  if (delivery.bytes.empty()) return;
  link_->send(control::Output{rank.rank, static_cast<std::uint8_t>(stream + 1), std::move(delivery.bytes)});
}

/// What a rank that has died had still written on standard error, as far as it fits a pipe.
void JobDriver::read_last_errors(RankProcess& rank) { read_all_output(rank, 1); }

void JobDriver::output_diverged(const RankProcess& rank, const OutputJournal::Difference& difference) {
  if (ending_code_) return;
  const std::string place =
      difference.first_byte == difference.last_byte
          ? fmt::format("at byte {}", difference.first_byte)
          : fmt::format("at byte {} to {}", difference.first_byte, difference.last_byte);
  begin_ending(
      exit_diverged,
      fmt::format("mpirun: replay diverged: standard output of {} {} is not what its predecessor wrote "
                  "(incarnation {}); the program depends on something that is not recorded.\n",
                  name_of(rank), place, rank.incarnation));
}

/// A replacement waits at this place of its replay.
void JobDriver::replay_reached(RankProcess& rank, const ReachQuestion& question) {
  read_all_output(rank, 0);
  if (ending_code_) return;
  const bool may_judge = question.is_single && writes_alone(rank);
  const auto finding = rank.output.reached(question.place, may_judge);
  if (finding == RankOutput::Finding::wrote_more) return output_is_new(rank);
  if (finding == RankOutput::Finding::wrote_less) return output_diverged(rank, rank.output.end());
  if (rank.output.repetition() == Repetition::over) release_output(rank);
  if (!ending_code_) arenas_->answer_reach(question.number);
}

void JobDriver::release_output(RankProcess& rank) {
  if (rebuilding()) pass_on(rank, 0, rank.output.release());
}

/// What the pipe has now.
void JobDriver::read_all_output(const RankProcess& rank, int stream) {
  constexpr int reads_max = 64;
  for (int i = 0; i < reads_max && rank.pipes[stream]; ++i) {
    pollfd one{rank.pipes[stream].get(), POLLIN, 0};
    if (poll(&one, 1, 0) != 1) return;
    read_output(rank.rank, stream);
  }
}

/// Whether nobody writes beside the rank: its wrapper scripts wait for it.
bool JobDriver::writes_alone(const RankProcess& rank) const {
  const pid_t self = rank.attached != 0 ? rank.attached : rank.root;
  const auto family = processes_of(rank);
  const auto ancestors = ancestors_of(self);
  return std::all_of(family.begin(), family.end(), [&](pid_t pid) {
    return pid == self || std::find(ancestors.begin(), ancestors.end(), pid) != ancestors.end();
  });
}

void JobDriver::output_is_new(const RankProcess& rank) {
  begin_ending(
      exit_diverged,
      fmt::format("mpirun: replay diverged: {} (incarnation {}) wrote more to standard output before its "
                  "MPI call {} than its predecessor had written; the program depends on something that is "
                  "not recorded.\n",
                  name_of(rank), rank.incarnation, rank.calls));
}

void JobDriver::output_ended(RankProcess& rank, int stream) {
  loop_.forget(rank.pipes[stream].get());
  rank.pipes[stream].reset();
  look_at_draining(rank);
  if (rank.phase == RankPhase::fencing) look_at_fence(rank);
}

void JobDriver::drop_output(RankProcess& rank) {
  for (FileDescriptor& pipe : rank.pipes) {
    if (!pipe) continue;
    loop_.forget(pipe.get());
    pipe.reset();
  }
}

void JobDriver::adjust_reading() {
  const std::size_t queued = link_->queued_bytes();
  const bool pause = reading_paused_ ? queued > queued_bytes_low : queued > queued_bytes_max;
  if (pause == reading_paused_) return;
  reading_paused_ = pause;
  for (const RankProcess& rank : ranks_)
    for (const FileDescriptor& pipe : rank.pipes)
      if (pipe) loop_.change(pipe.get(), pause ? 0 : POLLIN);
}

void JobDriver::take_input(control::Input input) {
  if (input.bytes.empty()) input_ended_ = true;
  input_ += input.bytes;
  if (rebuilding() && !input_lost_ && input_.size() > input_kept_bytes_max) {
    input_lost_ = true;
    say("mpirun: standard input is longer than what is kept for a replacement (256 MiB): rank 0 cannot be "
        "replaced from now on.\n");
  }
  give_input();
}

/// Gives rank 0 as much as its pipe takes; what it was given is kept for a replacement.
void JobDriver::give_input() {
  if (ranks_.empty()) return;
  RankProcess& rank = ranks_[0];
  const std::uint64_t end = input_start_ + input_.size();
  while (rank.input && rank.input_given < end) {
    const char* from = input_.data() + (rank.input_given - input_start_);
    const ssize_t count = write(rank.input.get(), from, end - rank.input_given);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      loop_.watch(rank.input.get(), POLLOUT, [this](short) { give_input(); });
      return input_given(rank.input_given);
    }
    if (count < 0) {
      loop_.forget(rank.input.get());
      rank.input.reset();
      break;
    }
    rank.input_given += static_cast<std::uint64_t>(count);
  }
  if (rank.input) loop_.forget(rank.input.get());
  if (rank.input && input_ended_) rank.input.reset();
  // Who does not read gets no more, but mpirun must not wait for it.
  if (!rank.input) rank.input_given = end;
  input_given(rank.input_given);
}

void JobDriver::input_given(std::uint64_t position) {
  if (position > input_acknowledged_) {
    link_->send(control::InputTaken{position - input_acknowledged_});
    input_acknowledged_ = position;
  }
  if (rebuilding() && !input_lost_) return;
  input_.erase(0, position - input_start_);
  input_start_ = position;
}

}  // namespace llamada::launcher
