#include "foreground.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/guardian.hpp"
#include "process_tree.hpp"
#include "process_watch.hpp"

namespace llamada::launcher {
namespace {

/// Bytes of standard input that llamanetd may hold untaken.
constexpr std::size_t input_in_flight_max = 256 << 10;
/// While our reader takes less than this from us, we take nothing from llamanetd.
constexpr std::size_t waiting_bytes_max = 1 << 20;
/// A pipe that poll() calls writable takes as many bytes without blocking.
constexpr std::size_t write_size_bytes = 4096;
/// How long an unfinished line may wait on a terminal: a prompt is one.
constexpr std::chrono::milliseconds partial_line_delay{50};
/// How long llamanetd may take to end a job that it was told to end. It kills all of it after half a second.
constexpr std::chrono::seconds force_delay{5};

/// What is passed on to the ranks.
constexpr int forwarded_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

/// timeout(1) sends its signal to mpirun, and then to its process group, mpirun included: that is one
/// request.
constexpr std::chrono::milliseconds repeated_within{50};

bool ends_job(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/// nohup and a shell's '&' start a program with signals ignored that it must keep ignoring. The ranks have
/// inherited that, too.
bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Where there are several nodes the label of -l names them, too.
LineMerger lines_of(const ForegroundPlan& plan) {
  const bool has_nodes = !plan.job.nodes.empty();
  const bool is_label = plan.options.line_prefix == rank_label;
  return LineMerger(has_nodes && is_label ? "[%r@%h] " : plan.options.line_prefix,
                    control::hosts_of_ranks(plan.job));
}

}  // namespace

Foreground::Foreground(ForegroundPlan plan)
    : options_(plan.options),
      guardian_(plan.guardian),
      last_word_(std::move(plan.last_word)),
      guardian_watch_(loop_, plan.guardian,
                      [this](int status) {
                        guardian_gone_ = true;
                        guardian_status_ = status;
                      }),
      sinks_{{STDOUT_FILENO, lines_of(plan), {}}, {STDERR_FILENO, lines_of(plan), {}}},
      files_(std::move(plan.files)),
      confirms_output_(!plan.job.storing.directory.empty()) {
  link_ = std::make_unique<ControlLink>(
      loop_, ControlLink::Stream{std::move(plan.control)},
      [this](control::Message message) { take(std::move(message)); },
      [](const Error&) {});  // the guardian knows more of it, and ends after it
  for (const int number : forwarded_signals)
    if (!is_ignored(number)) loop_.on_signal(number, [this, number] { take_signal(number); });
  link_->send(std::move(plan.job));
  if (options_.input_to_rank_0)
    allow_input();
  else
    end_input();
  if (options_.timeout) loop_.after(*options_.timeout, [this] { timed_out(); });
}

ForegroundResult Foreground::run() {
  Status waited;
  while (!guardian_gone_ && waited && !forced_) waited = loop_.run_once();
  if (forced_) {
    write_everything();
    return *forced_;
  }
  const bool guardian_killed = !guardian_gone_ || WIFSIGNALED(guardian_status_);
  if (guardian_killed) end_without_guardian();
  // What llamanetd still sent, up to the end of the socket.
  while (!link_->closed() && waited) waited = loop_.run_once();
  if (!write_everything() && finished_ && finished_->exit_code == 0)
    finished_->exit_code = ending_signal_ == 0 ? exit_output : exit_signal_base + ending_signal_;
  if (!waited)
    last_word_.say(fmt::format("mpirun: {}; the job has been ended.\n", waited.error().text()));
  else if (guardian_killed)
    last_word_.say(fmt::format("mpirun: its guardian (pid {}) {}; the job has been ended.\n", guardian_,
                               describe_end(guardian_status_)));
  else if (WEXITSTATUS(guardian_status_) == 0 && finished_)
    return with_lost_output(*finished_);
  return {exit_launcher, finished_ ? finished_->report : std::string()};
}

/// Some file systems tell only when a file is closed that it is full.
ForegroundResult Foreground::with_lost_output(ForegroundResult result) {
  for (Sink& sink : sinks_)
    if (!sink.broken && close(dup(sink.descriptor)) != 0 && errno != EINTR && errno != EBADF)
      cannot_write(sink, errno);
  if (output_lost_ && result.exit_code == 0) result.exit_code = exit_output;
  return result;
}

/// llamanetd, which has become our child, ends its ranks when it loses us; whatever lives then is killed.
void Foreground::end_without_guardian() {
  link_->send(control::End{exit_launcher, 1});
  link_->hang_up();
  wait_for_children(llamanetd_grace);
  kill_all_descendants();
}

/// llamanetd or a process above it may be stopped, or wait for something that does not come: it cannot end
/// the job then.
void Foreground::force_end_later(int exit_code) {
  if (std::exchange(forcing_, true)) return;
  loop_.after(force_delay, [this, exit_code] {
    take_notice(fmt::format(
        "mpirun: llamanetd has not ended the job within {} s (is it stopped?); all processes of the "
        "job are killed.\n",
        force_delay.count()));
    kill_all_descendants();
    forced_ = ForegroundResult{exit_code, {}};
  });
}

void Foreground::take(control::Message message) {
  if (auto* output = std::get_if<control::Output>(&message)) return take_output(*output);
  if (auto* notice = std::get_if<control::Notice>(&message)) return take_notice(notice->text);
  if (auto* taken = std::get_if<control::InputTaken>(&message)) {
    input_in_flight_ -= std::min(taken->size_bytes, input_in_flight_);
    return allow_input();
  }
  if (std::holds_alternative<control::Die>(message)) kill(getpid(), SIGKILL);
  if (const auto* world = std::get_if<control::World>(&message)) return take_world(*world);
  if (auto* finished = std::get_if<control::Finished>(&message))
    finished_ = ForegroundResult{finished->exit_code, std::move(finished->report)};
}

void Foreground::take_world(const control::World& world) {
  for (Sink& sink : sinks_) sink.lines.name_world(world.first, world.count, world.number, world.hosts);
  if (const auto made = files_.add_ranks(world.first, world.count, world.hosts); !made)
    fail_file(made.error());
}

void Foreground::take_output(const control::Output& output) {
  write_file(output);
  if (confirms_output_ && !output.bytes.empty())
    unconfirmed_[{output.rank, output.stream}] += output.bytes.size();
  if (!files_.is_shown(output.stream)) return confirm_output();
  Sink& sink = sinks_[output.stream == 2 ? 1 : 0];
  if (output.bytes.empty())
    sink.lines.end(output.rank, sink.waiting);
  else
    sink.lines.take(output.rank, output.bytes, sink.waiting);
  write_some(sink);
  if (sink.lines.has_partial() && isatty(sink.descriptor)) flush_later(sink);
}

/// Of a job that may be resumed: what is in the hands of our reader is not shown again.
void Foreground::confirm_output() {
  if (unconfirmed_.empty()) return;
  for (const Sink& sink : sinks_)
    if (!sink.waiting.empty() || (!sink.broken && sink.lines.has_partial())) return;
  for (const auto& [of, size_bytes] : std::exchange(unconfirmed_, {}))
    link_->send(control::OutputShown{of.first, of.second, size_bytes});
}

/// What cannot be written would be lost: the job ends.
void Foreground::write_file(const control::Output& output) {
  if (file_failed_) return;
  const auto written = files_.write(output.rank, output.stream, output.bytes);
  if (!written) fail_file(written.error());
}

void Foreground::fail_file(const Error& error) {
  if (std::exchange(file_failed_, true)) return;
  output_lost_ = true;
  take_notice(fmt::format("mpirun: {}; the job is ended.\n", error.text()));
  link_->send(control::End{exit_output, 0});
}

/// Standard output or standard error is lost. A terminal that has gone has no reader who could miss anything.
void Foreground::cannot_write(Sink& sink, int error) {
  sink.broken = true;
  const bool is_output = sink.descriptor == STDOUT_FILENO;
  if (error == EPIPE) {
    // Nobody reads any more: as a program without mpirun would, the job ends by SIGPIPE.
    if (is_output) link_->send(control::End{exit_signal_base + SIGPIPE, 0});
    return;
  }
  if (error == EIO && isatty(sink.descriptor)) return;
  output_lost_ = true;
  // By ourselves, since the notices may have been what was lost.
  say(fmt::format(
      "mpirun: standard {} cannot be written: {}; the ranks' output is lost, so the job is ended.\n",
      is_output ? "output" : "error", strerror(error)));
  link_->send(control::End{exit_output, 0});
}

void Foreground::end_input() {
  input_ended_ = true;
  link_->send(control::Input{{}});
}

void Foreground::take_notice(const std::string& text) {
  Sink& sink = sinks_[1];
  if (sink.lines.within_line()) {
    sink.waiting += '\n';
    sink.lines.line_was_closed();
  }
  sink.waiting += text;
  write_some(sink);
}

void Foreground::flush_later(Sink& sink) {
  if (flush_pending_) return;
  flush_pending_ = true;
  loop_.after(partial_line_delay, [this, &sink] {
    flush_pending_ = false;
    sink.lines.flush_partial(sink.waiting);
    write_some(sink);
  });
}

/// Writes what the stream takes without blocking, so that signals are seen meanwhile.
void Foreground::write_some(Sink& sink) {
  std::size_t done = 0;
  bool full = false;
  while (!sink.broken && done < sink.waiting.size()) {
    pollfd one{sink.descriptor, POLLOUT, 0};
    if (poll(&one, 1, 0) == 0) {
      full = true;
      break;
    }
    const ssize_t count = write(sink.descriptor, sink.waiting.data() + done,
                                std::min(write_size_bytes, sink.waiting.size() - done));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) {
      cannot_write(sink, errno);
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  sink.waiting.erase(0, sink.broken ? sink.waiting.size() : done);
  if (full && !sink.watched)
    loop_.watch(sink.descriptor, POLLOUT, [this, &sink](short) { write_some(sink); });
  if (!full && sink.watched) loop_.forget(sink.descriptor);
  sink.watched = full;
  confirm_output();
  link_->pause_reading(sinks_[0].waiting.size() + sinks_[1].waiting.size() > waiting_bytes_max);
}

/// At the end there is nothing else to do than to wait for our reader, until it takes all or a signal comes.
/// Whether everything was written.
bool Foreground::write_everything() {
  const int signals_before = forced_ ? 0 : ending_signals_;
  for (Sink& sink : sinks_) {
    sink.lines.flush_partial(sink.waiting);
    write_some(sink);
  }
  const auto wait = [&] { return ending_signals_ == signals_before && loop_.run_once().has_value(); };
  while (sinks_[0].watched || sinks_[1].watched)
    if (!wait()) return false;
  return true;
}

void Foreground::allow_input() {
  if (input_ended_) return;
  if (input_in_flight_ < input_in_flight_max)
    loop_.watch(STDIN_FILENO, POLLIN, [this](short) { read_input(); });
  else
    loop_.forget(STDIN_FILENO);
}

void Foreground::read_input() {
  std::string bytes(control::part_size_bytes_max, '\0');
  const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return;
  // A job in the background must not read its terminal: that is an end too.
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  input_ended_ = bytes.empty();
  input_in_flight_ += bytes.size();
  link_->send(control::Input{std::move(bytes)});
  if (input_ended_)
    loop_.forget(STDIN_FILENO);
  else
    allow_input();
}

void Foreground::take_signal(int number) {
  if (repeats_the_last(number)) return;
  link_->send(control::Signal{number});
  if (ends_job(number)) {
    ending_signal_ = number;
    ending_signal_at_ = std::chrono::steady_clock::now();
    if (++ending_signals_ > 1)
      force_end_later(exit_signal_base + number);
    else if (number == SIGTERM)
      loop_.after(options_.kill_after, [this, number] { end_after_grace(number); });
  }
  if (number == SIGTSTP) stop_for_a_while(number);
}

bool Foreground::repeats_the_last(int number) const {
  return number == ending_signal_ && std::chrono::steady_clock::now() - ending_signal_at_ < repeated_within;
}

/// Ranks may handle SIGTERM, and ignore or block it (valgrind's search for leaks does): whoever sends it to
/// mpirun wants the job to end. The other signals may mean something else to a program.
void Foreground::end_after_grace(int number) {
  if (finished_ || guardian_gone_) return;
  take_notice(
      fmt::format("mpirun: the job has not ended within {} s of SIGTERM, so mpirun kills it. Use "
                  "--kill-after to give programs more time.\n",
                  std::chrono::duration<double>(options_.kill_after).count()));
  link_->send(control::End{exit_signal_base + number, 0});
  force_end_later(exit_signal_base + number);
}

/// Stops as the shell expects of a job that was sent SIGTSTP; SIGCONT, which wakes us, is forwarded too.
void Foreground::stop_for_a_while(int) {
  link_->flush();
  raise(SIGSTOP);
}

void Foreground::timed_out() {
  take_notice(fmt::format("mpirun: --timeout ({} s) has expired; the job is ended.\n",
                          std::chrono::duration<double>(*options_.timeout).count()));
  link_->send(control::End{exit_timeout, 0, 1});
  force_end_later(exit_timeout);
}

}  // namespace llamada::launcher
