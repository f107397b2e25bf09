#include "process/pmi_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "process/numbers.hpp"
#include "world/own_programs.hpp"

namespace llamada::mpi {
namespace {

/// How long what the first rank has started may take to end.
constexpr std::chrono::seconds programs_end_max{5};
constexpr std::chrono::milliseconds barrier_look{1};
/// The numbers that the descriptors have in what is started.
constexpr const char* report_number = "3";
constexpr const char* manager_number = "4";
constexpr const char* secret_number = "5";

std::string key_of(const char* what, int number) { return fmt::format("llamada-{}-{}", what, number); }

/// "a;b;c"
std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(between), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  std::string text = name;
  std::erase_if(text, [](char c) { return c == ',' || c == ';' || c <= ' '; });
  return text;
}

/// How many CPUs the processes run on together, 0 if one of them is not bound to fewer than the others' all.
int cpus_of(const std::vector<std::string>& processes) {
  cpu_set_t together;
  CPU_ZERO(&together);
  for (const std::string& process : processes) {
    cpu_set_t own;
    pid_t pid = 0;
    if (!read_number(process, pid) || sched_getaffinity(pid, sizeof own, &own) != 0) return 0;
    CPU_OR(&together, &together, &own);
  }
  return CPU_COUNT(&together);
}

}  // namespace

bool PmiJob::is_there() {
  int descriptor = -1, rank = 0, size = 0;
  return std::getenv("LLAMADA_SINGLETON") == nullptr && read_variable("PMI_FD", descriptor) &&
         read_variable("PMI_RANK", rank) && read_variable("PMI_SIZE", size) && size > 1 &&
         fcntl(descriptor, F_GETFD) >= 0;
}

Result<std::unique_ptr<PmiJob>> PmiJob::open() {
  int descriptor = -1;
  static_cast<void>(read_variable("PMI_FD", descriptor));
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  auto client = PmiClient::open(descriptor);
  if (!client) return propagate(client);
  std::unique_ptr<PmiJob> job(new PmiJob(std::move(*client)));
  job->descriptor_ = descriptor;
  static_cast<void>(read_variable("PMI_RANK", job->rank_.rank));
  static_cast<void>(read_variable("PMI_SIZE", job->rank_.size));
  job->rank_.is_adopted = true;
  if (job->rank_.rank < 0 || job->rank_.rank >= job->rank_.size)
    return failure(Errc::invalid_argument, "PMI_RANK is {}, and PMI_SIZE {}", job->rank_.rank,
                   job->rank_.size);
  return job;
}

Result<std::unique_ptr<PmiJob>> PmiJob::join(const std::function<void(const Error&)>& tell) {
  auto job = open();
  if (!job) return tell(job.error()), std::move(job);
  if (auto met = (*job)->meet_all(); !met) {
    tell(met.error());
    (*job)->client_.abort(1);
    return propagate(met);
  }
  return job;
}

Status PmiJob::meet_all() {
  const auto may_wait = [this] { return programs_live(); };
  if (auto read = read_nodes(); !read) return read;
  if (auto told = introduce_itself(); !told) return told;
  if (auto met = client_.barrier(may_wait); !met) return met;
  if (rank_.rank == 0)
    if (auto started = start_mpirun(); !started) return started;
  if (has_several_nodes())
    if (auto met = client_.barrier(may_wait); !met) return met;
  if (is_first_of_node() && rank_.rank != 0)
    if (auto started = start_llamanetd(); !started) return started;
  if (is_first_of_node())
    if (auto told = tell_places(); !told) return told;
  if (auto met = client_.barrier(may_wait); !met) return met;
  return find_own_place();
}

Status PmiJob::read_nodes() {
  auto mapping = client_.get("PMI_process_mapping");
  if (!mapping) return propagate(mapping);
  auto nodes = parse_process_mapping(*mapping, static_cast<std::uint32_t>(rank_.size));
  if (!nodes) return propagate(nodes);
  node_of_rank_ = std::move(*nodes);
  const std::uint32_t own = node_of_rank_[static_cast<std::size_t>(rank_.rank)];
  for (int rank = 0; rank < rank_.size; ++rank) {
    const std::uint32_t node = node_of_rank_[static_cast<std::size_t>(rank)];
    if (node == first_ranks_.size()) first_ranks_.push_back(rank);
    if (node == own) own_ranks_.push_back(rank);
  }
  return {};
}

/// The kernel's number: the program may see another one.
Status PmiJob::introduce_itself() {
  return client_.put(key_of("rank", rank_.rank), fmt::format("{};{}", syscall(SYS_getpid), host_name()));
}

/// What the programs may write to.
Result<std::vector<int>> PmiJob::open_report() {
  for (const int rank : own_ranks_) {
    auto told = client_.get(key_of("rank", rank));
    if (!told) return propagate(told);
    processes_.push_back(parts_of(*told, ';')[0]);
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("pipe2");
  report_ = FileDescriptor(ends[0]);
  return std::vector<int>{-1, -1, STDERR_FILENO, ends[1], descriptor_};
}

/// "0:1234,1:1235"
std::string PmiJob::own_processes() const {
  std::string text;
  for (std::size_t i = 0; i < own_ranks_.size(); ++i)
    text += fmt::format("{}{}:{}", i == 0 ? "" : ",", own_ranks_[i], processes_[i]);
  return text;
}

Status PmiJob::start_mpirun() {
  auto descriptors = open_report();
  if (!descriptors) return propagate(descriptors);
  FileDescriptor write_end((*descriptors)[3]);
  std::string hosts, nodes;
  for (const int rank : first_ranks_) {
    auto told = client_.get(key_of("rank", rank));
    if (!told) return propagate(told);
    hosts += (hosts.empty() ? "" : ",") + parts_of(*told, ';').back();
  }
  for (const std::uint32_t node : node_of_rank_) nodes += fmt::format("{}{}", nodes.empty() ? "" : ",", node);
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  if (auto started = start_own_program("mpirun",
                                       {"--adopt-ranks", std::to_string(rank_.size), own_processes(), hosts,
                                        nodes, report_number, manager_number, program},
                                       std::move(*descriptors));
      !started)
    return started;
  write_end.reset();  // mpirun's own is the only one, so that its end shows
  if (!has_several_nodes()) return {};
  auto coordinator = read_report();
  return coordinator ? client_.put("llamada-coordinator", *coordinator) : Status(propagate(coordinator));
}

/// What rank 0 has put: "job number;addresses;port;secret".
Status PmiJob::start_llamanetd() {
  auto coordinator = client_.get("llamada-coordinator");
  if (!coordinator) return propagate(coordinator);
  const auto parts = parts_of(*coordinator, ';');
  if (parts.size() != 4) return failure(Errc::parse_error, "mpirun says '{}'", *coordinator);
  auto descriptors = open_report();
  if (!descriptors) return propagate(descriptors);
  const FileDescriptor write_end((*descriptors)[3]);
  // Arguments can be read by other users.
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("pipe2");
  const FileDescriptor secret(ends[0]), secret_end(ends[1]);
  if (write(ends[1], parts[3].data(), parts[3].size()) != static_cast<ssize_t>(parts[3].size()))
    return system_failure("write");
  descriptors->push_back(secret.get());
  const std::uint32_t node = node_of_rank_[static_cast<std::size_t>(rank_.rank)];
  return start_own_program(
      "llamanetd",
      {"--node", std::to_string(node), "--job-number", parts[0], "--coordinator", parts[1], "--port",
       parts[2], "--drive-node", "--control-fd", secret_number, "--adopt", own_processes(), "--report-fd",
       report_number, "--manager-fd", manager_number},
      std::move(*descriptors));
}

/// Hears where the ranks of this node may attach: "driver;token of the first one;token of the next …".
Status PmiJob::tell_places() {
  auto ready = read_report();
  if (!ready) return propagate(ready);
  const auto parts = parts_of(*ready, ';');
  if (parts.size() != own_ranks_.size() + 1) return failure(Errc::parse_error, "llamanetd says '{}'", *ready);
  const int cpus = cpus_of(processes_);
  for (std::size_t i = 0; i < own_ranks_.size(); ++i)
    if (auto put = client_.put(key_of("place", own_ranks_[i]),
                               fmt::format("{};{};{}", parts[0], parts[i + 1], cpus));
        !put)
      return put;
  return {};
}

Status PmiJob::find_own_place() {
  auto place = client_.get(key_of("place", rank_.rank));
  if (!place) return propagate(place);
  const auto parts = parts_of(*place, ';');
  if (parts.size() != 3 || !read_number(parts[1], rank_.token) || !read_number(parts[2], rank_.cpus))
    return failure(Errc::parse_error, "the place of rank {} is '{}'", rank_.rank, *place);
  rank_.driver = parts[0];
  return {};
}

/// One line. Lines are rare, and shorter than what a pipe takes at once.
Result<std::string> PmiJob::read_report() {
  std::string line;
  for (;;) {
    char byte = 0;
    const ssize_t count = read(report_.get(), &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("read");
    if (count == 0)
      return failure(Errc::closed, "{}, which it has started, has ended",
                     rank_.rank == 0 ? "mpirun" : "llamanetd");
    if (byte == '\n') return line;
    line += byte;
  }
}

/// As far as this process has started some.
bool PmiJob::programs_live() const {
  pollfd report{report_.get(), 0, 0};
  return !report_ || poll(&report, 1, 0) == 0;
}

Result<bool> PmiJob::all_have_come() {
  if (!is_waiting_)
    if (auto entered = client_.enter_barrier(); !entered) return propagate(entered);
  is_waiting_ = true;
  return client_.look_at_barrier(barrier_look);
}

void PmiJob::leave() {
  const auto limit = std::chrono::steady_clock::now() + programs_end_max;
  pollfd report{report_.get(), 0, 0};
  while (report_ && std::chrono::steady_clock::now() < limit)
    if (poll(&report, 1, 100) > 0) report_.reset();
  (void)client_.finish();
}

}  // namespace llamada::mpi
