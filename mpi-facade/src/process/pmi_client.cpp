#include "process/pmi_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace llamada::mpi {
namespace {

constexpr std::chrono::milliseconds between_questions{20};

std::size_t number_of(const std::string& text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Result<PmiClient> PmiClient::open(int descriptor) {
  PmiClient client(descriptor);
  auto greeted = client.ask("init", {{"pmi_version", "1"}, {"pmi_subversion", "1"}}, "response_to_init");
  if (!greeted) return propagate(greeted);
  auto maxima = client.ask("get_maxes", {}, "maxes");
  if (!maxima) return propagate(maxima);
  client.value_bytes_max_ = number_of((*maxima)["vallen_max"]);
  auto space = client.ask("get_my_kvsname", {}, "my_kvsname");
  if (!space) return propagate(space);
  client.space_ = (*space)["kvsname"];
  return client;
}

Status PmiClient::put(std::string_view key, std::string_view value) {
  if (value.size() >= value_bytes_max_)
    return failure(Errc::out_of_resources,
                   "the value of {} has {} bytes; the process manager takes less than {}", key, value.size(),
                   value_bytes_max_);
  auto answer = ask("put", {{"kvsname", space_}, {"key", key}, {"value", value}}, "put_result");
  return answer ? Status() : Status(propagate(answer));
}

Result<std::string> PmiClient::get(std::string_view key) {
  auto answer = ask("get", {{"kvsname", space_}, {"key", key}}, "get_result");
  if (!answer) return propagate(answer);
  const auto value = answer->find("value");
  const auto code = answer->find("rc");
  const bool is_known = code == answer->end() || code->second == "0";
  if (value == answer->end() || !is_known)
    return failure(Errc::not_found, "the process manager does not know {}", key);
  return value->second;
}

Status PmiClient::barrier(const MayWait& may_wait) {
  if (auto entered = enter_barrier(); !entered) return entered;
  for (;;) {
    auto is_over = look_at_barrier(between_questions);
    if (!is_over) return propagate(is_over);
    if (*is_over) return {};
    if (!may_wait()) return failure(Errc::would_block, "a barrier of the process manager");
  }
}

Result<bool> PmiClient::look_at_barrier(std::chrono::milliseconds longest) {
  pollfd answer{descriptor_, POLLIN, 0};
  if (read_.empty() && poll(&answer, 1, static_cast<int>(longest.count())) <= 0) return false;
  auto taken = take("barrier_out");
  if (!taken) return propagate(taken);
  return true;
}

void PmiClient::abort(int exit_code) {
  (void)send(pmi_line("abort", {{"exitcode", std::to_string(exit_code)}}));
}

Status PmiClient::finish() {
  auto answer = ask("finalize", {}, "finalize_ack");
  return answer ? Status() : Status(propagate(answer));
}

Result<PmiClient::Fields> PmiClient::ask(std::string_view command, const std::vector<PmiField>& fields,
                                         std::string_view answer) {
  if (auto sent = send(pmi_line(command, fields)); !sent) return propagate(sent);
  return take(answer);
}

Status PmiClient::send(std::string_view line) const {
  while (!line.empty()) {
    const ssize_t count = ::send(descriptor_, line.data(), line.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("PMI_FD");
    line.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> PmiClient::read_line() {
  for (;;) {
    if (const std::size_t end = read_.find('\n'); end != read_.npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    if (read_.size() > pmi_line_bytes_max)
      return failure(Errc::parse_error, "the process manager has sent a line of more than {} bytes",
                     pmi_line_bytes_max);
    char bytes[4096];
    const ssize_t count = read(descriptor_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("PMI_FD");
    if (count == 0) return failure(Errc::closed, "the process manager has ended");
    read_.append(bytes, static_cast<std::size_t>(count));
  }
}

Result<PmiClient::Fields> PmiClient::take(std::string_view expected) {
  auto line = read_line();
  if (!line) return propagate(line);
  auto fields = parse_pmi_line(*line);
  if (!fields) return propagate(fields);
  if ((*fields)["cmd"] != expected)
    return failure(Errc::parse_error, "the process manager has answered '{}' instead of {}",
                   line->substr(0, 200), expected);
  // A key that nobody has put is no error of the manager's.
  const auto code = fields->find("rc");
  if (code != fields->end() && code->second != "0" && expected != "get_result")
    return failure(Errc::invalid_argument, "the process manager refuses: {}", line->substr(0, 200));
  return fields;
}

}  // namespace llamada::mpi
