#include "llamada/launcher/job_driver.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "descriptor_limit.hpp"
#include "job_driver_class.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/guardian.hpp"
#include "llamada/launcher/job_number.hpp"
#include "llamada/qos/serialization.hpp"
#include "other_mpi.hpp"
#include "process_tree.hpp"
#include "process_watch.hpp"

namespace llamada::launcher {
namespace {

/// What the ranks have between SIGTERM and SIGKILL once the job ends.
constexpr std::chrono::milliseconds ending_grace{500};

/// How long a process whose sockets are closed may take to be dead.
constexpr std::chrono::milliseconds mpirun_death_max{300};

/// Whether the process of a pidfd dies within this time. One that has none was dead before.
bool is_dead_soon(const FileDescriptor& process, std::chrono::milliseconds limit) {
  pollfd one{process.get(), POLLIN, 0};
  return !process || poll(&one, 1, static_cast<int>(limit.count())) == 1;
}

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

/// The process that made the socket.
pid_t peer_of(const FileDescriptor& socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size);
  return credentials.pid;
}

}  // namespace

int run_job_driver(FileDescriptor control, LastWord last_word, const ArenasFactory& make_arenas) {
  return JobDriver(std::move(control), std::move(last_word), make_arenas).run();
}

JobDriver::JobDriver(FileDescriptor control, LastWord last_word, const ArenasFactory& make_arenas)
    : make_arenas_(make_arenas), last_word_(std::move(last_word)), host_(host_name()) {
  // Everything that can be blocked is: what comes by a terminal or by name concerns mpirun.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &original_mask_);
  original_descriptor_limit_ = raise_descriptor_limit();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fcntl(control.get(), F_SETFD, FD_CLOEXEC);
  fcntl(last_word_.descriptor(), F_SETFD, FD_CLOEXEC);
  mpirun_ = peer_of(control);
  mpirun_pidfd_ = open_pidfd(mpirun_);
  link_ = std::make_unique<ControlLink>(
      loop_, std::move(control), [this](control::Message message) { take(std::move(message)); },
      [this](const Error&) { mpirun_lost(); });
  loop_.on_signal(SIGCHLD, [this] { reap(); });
  static_cast<void>(getrandom(&token_, sizeof token_, 0));
}

int JobDriver::run() {
  while (!finished_ && !orphaned_) {
    if (auto status = loop_.run_once(); !status) {
      last_word_.say(fmt::format("mpirun: llamanetd: {}; the job is ended.\n", status.error().text()));
      kill_all_descendants();
      return exit_launcher;
    }
    adjust_reading();
    look_for_the_end();
  }
  if (finished_) return 0;
  kill_all_descendants();
  // Unless it only told us to end, and says itself why.
  if (!told_to_end_ && is_dead_soon(mpirun_pidfd_, mpirun_death_max))
    last_word_.say(mpirun_was_killed(mpirun_));
  return exit_llamanetd_orphaned;
}

void JobDriver::mpirun_lost() { orphaned_ = !finished_; }

void JobDriver::take(control::Message message) {
  if (auto* start_message = std::get_if<control::Start>(&message)) return start(std::move(*start_message));
  if (auto* input = std::get_if<control::Input>(&message)) return take_input(std::move(*input));
  if (auto* signal = std::get_if<control::Signal>(&message)) return forward_signal(signal->number);
  if (auto* end = std::get_if<control::End>(&message)) {
    begin_ending(end->exit_code, {});
    told_to_end_ = end->kill != 0;
    if (told_to_end_) kill_everything();
  }
}

void JobDriver::start(control::Start start) {
  if (!ranks_.empty() || start.rank_count == 0) return;
  if (auto status = prepare(start); !status) {
    say(fmt::format("mpirun: {}\n", status.error().text()));
    ending_code_ = exit_launcher;
    return finish();
  }
  if (job_.verbose)
    say(fmt::format("mpirun: the job has the number {}.\n", job_number_text(job_.job_number)));
  start_all();
}

Status JobDriver::prepare(const control::Start& start) {
  job_ = start;
  auto profile = qos::deserialize(job_.profile);
  if (!profile) return propagate(profile);
  profile_ = std::move(*profile);
  if (auto status = check_descriptors_of_job(job_.rank_count); !status) return status;
  auto arenas = make_arenas_({job_.rank_count, job_.job_number, profile_});
  if (!arenas) return propagate(arenas);
  arenas_ = std::move(*arenas);
  if (arenas_->descriptor() >= 0)
    loop_.watch(arenas_->descriptor(), POLLIN, [this](short) { pump_arenas(); });
  std::vector<InjectRule> rules;
  for (const std::string& text : job_.inject_rules) {
    auto rule = parse_inject_rule(text);
    if (!rule) return propagate(rule);
    rules.push_back(std::move(*rule));
  }
  injector_ = std::make_unique<Injector>(loop_, std::move(rules), [this](std::uint32_t rank, int signal) {
    const RankProcess& process = ranks_[rank];
    if (process.phase != RankPhase::running || process.root == 0) return false;
    return kill(process.attached_alive ? process.attached : process.root, signal) == 0;
  });
  report_.job_number = job_.job_number;
  report_.rank_count = job_.rank_count;
  report_.profile = job_.profile_label;
  return {};
}

bool JobDriver::rebuilding() const {
  return profile_.rank_replacement.kind == qos::RankReplacementKind::rebuild;
}

RankProcess* JobDriver::rank_of_root(pid_t pid) {
  const auto found =
      std::find_if(ranks_.begin(), ranks_.end(), [pid](const RankProcess& r) { return r.root == pid; });
  return found == ranks_.end() ? nullptr : &*found;
}

void JobDriver::say(std::string text) {
  if (!text.empty()) link_->send(control::Notice{std::move(text)});
}

void JobDriver::signal_ranks(int number) {
  for (const RankProcess& rank : ranks_)
    if (rank.root > 0 && !(rank.held_signals >> number & 1)) kill(-rank.root, number);
}

void JobDriver::give_held_signals(RankProcess& rank) {
  for (const int number : {SIGUSR1, SIGUSR2})
    if (rank.root > 0 && rank.held_signals >> number & 1) kill(-rank.root, number);
  rank.held_signals = 0;
}

void JobDriver::forward_signal(int number) {
  user_signals_ |= std::uint64_t{1} << (number & 63);
  const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
  if (number == SIGUSR1 || number == SIGUSR2)
    for (RankProcess& rank : ranks_)
      if (rank.is_being_replaced()) rank.held_signals |= std::uint64_t{1} << number;
  if (!ends) return signal_ranks(number);
  if (++user_signal_count_ > 1) {
    begin_ending(exit_signal_base + number, {});
    return kill_everything();
  }
  signal_ranks(number);
  // A stopped process takes the signal only when it continues.
  signal_ranks(SIGCONT);
}

void JobDriver::begin_ending(int exit_code, std::string_view why) {
  say(std::string(why));
  if (ending_code_) return;
  ending_code_ = exit_code;
  if (arenas_) arenas_->set_ending();
  signal_ranks(SIGTERM);
  // A stopped process takes SIGTERM only when it goes on.
  signal_ranks(SIGCONT);
  loop_.after(ending_grace, [this] { kill_everything(); });
  for (RankProcess& rank : ranks_) {
    if (rank.phase == RankPhase::fencing) begin_draining(rank);
    if (rank.phase == RankPhase::draining) kill_processes_of(rank);
  }
}

void JobDriver::kill_everything() {
  for (const ProcessEntry& entry : descendants_of(getpid())) kill(entry.pid, SIGKILL);
}

void JobDriver::look_for_the_end() {
  if (finished_ || orphaned_ || ranks_.empty()) return;
  const bool all = std::all_of(ranks_.begin(), ranks_.end(),
                               [](const RankProcess& rank) { return rank.phase == RankPhase::finished; });
  if (all) finish();
}

void JobDriver::finish() {
  finished_ = true;
  for (const RankProcess& rank : ranks_) report_.ranks.push_back(arenas_->view(rank.rank));
  report_.spawned_world_count = spawned_count_;
  if (injector_) report_.injections = injector_->records();
  for (const InjectionRecord& injection : report_.injections)
    if (!injection.fired) say(fmt::format("mpirun: the rule --inject '{}' never fired.\n", injection.rule));
  tell_of_other_mpi();
  if (job_.print_exit_codes) say(exit_codes_text());
  link_->send(control::Finished{ending_code_.value_or(first_failure_), report_to_json(report_)});
  link_->flush();
}

/// A program that opens its MPI library by itself (Python) is seen only while it runs: at its first output.
void JobDriver::look_at_libraries(const RankProcess& rank) {
  if (rank.rank != 0 || rank.attached != 0 || job_.rank_count == 1) return;
  if (!std::exchange(libraries_seen_, true)) other_mpi_ = other_mpi_of_process(rank.root);
}

/// Programs without MPI are started by mpirun, too, so only one with another MPI library is spoken of.
void JobDriver::tell_of_other_mpi() {
  const bool came_to_mpi = std::any_of(report_.ranks.begin(), report_.ranks.end(), [](const RankView& view) {
    return view.state != RankState::none && view.state != RankState::attached;
  });
  if (came_to_mpi || job_.rank_count == 1 || report_.ranks.empty()) return;
  if (other_mpi_.empty())
    other_mpi_ = other_mpi_of_program(job_.program, job_.environment, job_.working_directory);
  if (!other_mpi_.empty()) say(describe_other_mpi(other_mpi_, job_.rank_count));
}

std::string JobDriver::exit_codes_text() const {
  std::string text = "mpirun: exit codes:";
  for (const RankProcess& rank : ranks_) {
    const int status = rank.root_status;
    const int code = WIFSIGNALED(status) ? exit_signal_base + WTERMSIG(status) : WEXITSTATUS(status);
    text += fmt::format("{} rank {}: {}", rank.rank == 0 ? "" : ",", rank.rank, code);
  }
  return text + "\n";
}

}  // namespace llamada::launcher
