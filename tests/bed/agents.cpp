#include "agents.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "enter.hpp"

namespace llamada::bed {
namespace {

constexpr int waiting_max = 64;

Result<sockaddr_un> address_of_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return failure(Errc::invalid_argument, "'{}' is no path for a socket", path);
  path.copy(address.sun_path, path.size());
  return address;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

/// The command of one client: node, and words.
[[noreturn]] void run_for(const BedName& bed, ControlMessage request) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<std::string> words = lines_of(request.text);
  if (words.size() < 2 || request.descriptors.size() != 3) ::_exit(1);
  for (int stream = 0; stream < 3; ++stream)
    ::dup2(request.descriptors[static_cast<std::size_t>(stream)].get(), stream);
  request.descriptors.clear();
  const std::string node = words[0].starts_with("node") ? words[0].substr(4) : words[0];
  const auto status = run_in_node(bed, node, {words.begin() + 1, words.end()});
  ::_exit(status ? *status : 1);
}

/// Until the command or its client has ended.
[[noreturn]] void serve(const BedName& bed, FileDescriptor client) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto request = receive_message(client.get());
  if (!request) ::_exit(1);
  const pid_t command = ::fork();
  if (command == 0) run_for(bed, std::move(*request));
  request->descriptors.clear();
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, command, 0)));
  std::array<pollfd, 2> watched{pollfd{process.get(), POLLIN, 0}, pollfd{client.get(), POLLIN, 0}};
  while (::poll(watched.data(), watched.size(), -1) < 0) {
  }
  if (watched[0].revents == 0) ::kill(command, SIGKILL);
  int status = 0;
  ::waitpid(command, &status, 0);
  (void)send_message(client.get(), std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 1));
  ::_exit(0);
}

}  // namespace

Status serve_agents(const BedName& bed, const std::string& path) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGCHLD, SIG_IGN);
  auto address = address_of_path(path);
  if (!address) return propagate(address);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::listen(socket.get(), waiting_max) != 0)
    return system_failure("a server at " + path);
  for (;;) {
    FileDescriptor client(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) continue;
    if (::fork() != 0) continue;
    ::signal(SIGCHLD, SIG_DFL);
    serve(bed, std::move(client));
  }
}

Result<int> run_by_agent(const std::string& path, const std::string& node,
                         const std::vector<std::string>& command) {
  auto address = address_of_path(path);
  if (!address) return propagate(address);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return failure(Errc::not_found, "no server of agents is at {}", path);
  std::string text = node;
  for (const std::string& word : command) text += "\n" + word;
  const std::array<int, 3> streams{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  if (auto sent = send_message(socket.get(), text, streams); !sent) return propagate(sent);
  auto answer = receive_message(socket.get());
  if (!answer) return failure(Errc::closed, "the server of agents is gone");
  return std::stoi(answer->text);
}

}  // namespace llamada::bed
