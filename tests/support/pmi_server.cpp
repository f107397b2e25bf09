// A process manager for tests: starts processes on this host, and is for them what srun and MPICH's mpiexec
// are (PMI-1 over a socket in PMI_FD). Several nodes are its word alone.
//
//   pmi_server SIZE MAPPING PROGRAM [ARGUMENT …]
//
// MAPPING is the value of PMI_process_mapping: "(vector,(0,2,2))".
// As Slurm does, it ends nothing when one process ends, unless a process asks for it (cmd=abort); with
// PMI_SERVER_KILLS in its environment it kills all when one has ended badly, as srun --kill-on-bad-exit. Ends
// when all have, with the largest of their exit codes, 128 + n for signal n.

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

struct Client {
  int socket = -1;
  pid_t process = 0;
  std::string read;
  bool is_in_barrier = false;
};

class Server {
 public:
  Server(int size, const std::string& mapping) : clients_(static_cast<std::size_t>(size)) {
    values_["PMI_process_mapping"] = mapping;
  }

  void start(char** command) {
    for (std::size_t rank = 0; rank < clients_.size(); ++rank) start(rank, command);
  }

  int serve() {
    while (
        std::any_of(clients_.begin(), clients_.end(), [](const Client& each) { return each.process != 0; })) {
      std::vector<pollfd> polled;
      for (const Client& client : clients_) polled.push_back({client.socket, POLLIN, 0});
      poll(polled.data(), polled.size(), 5);
      for (std::size_t rank = 0; rank < clients_.size(); ++rank)
        if (polled[rank].revents != 0) read_from(clients_[rank]);
      reap();
    }
    return exit_code_;
  }

 private:
  void start(std::size_t rank, char** command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    Client& client = clients_[rank];
    client.process = fork();
    if (client.process == 0) {
      for (const Client& other : clients_)
        if (other.socket >= 0) close(other.socket);
      close(ends[0]);
      setenv("PMI_FD", std::to_string(ends[1]).c_str(), 1);
      setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
      setenv("PMI_SIZE", std::to_string(clients_.size()).c_str(), 1);
      execvp(command[0], command);
      _exit(127);
    }
    close(ends[1]);
    client.socket = ends[0];
  }

  void reap() {
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG))
      for (Client& client : clients_) {
        if (client.process != pid) continue;
        client.process = 0;
        exit_code_ = std::max(exit_code_, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        if (status != 0 && getenv("PMI_SERVER_KILLS") != nullptr) kill_all();
      }
  }

  void read_from(Client& client) {
    char bytes[4096];
    const ssize_t count = recv(client.socket, bytes, sizeof bytes, 0);
    if (count <= 0) {
      close(client.socket);
      client.socket = -1;
      return;
    }
    client.read.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end = client.read.find('\n'); end != std::string::npos; end = client.read.find('\n')) {
      const std::string line = client.read.substr(0, end);
      client.read.erase(0, end + 1);
      take(client, line);
    }
  }

  static std::string field(const std::string& line, const std::string& name) {
    const std::size_t at = (" " + line).find(" " + name + "=");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
  }

  static void answer(const Client& client, const std::string& line) {
    const std::string text = "cmd=" + line + "\n";
    if (send(client.socket, text.data(), text.size(), MSG_NOSIGNAL) < 0) return;
  }

  void take(Client& client, const std::string& line) {
    const std::string command = field(line, "cmd");
    if (command == "init")
      answer(client, "response_to_init rc=0 pmi_version=1 pmi_subversion=1");
    else if (command == "get_maxes")
      answer(client, "maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024");
    else if (command == "get_my_kvsname")
      answer(client, "my_kvsname rc=0 kvsname=test");
    else if (command == "put")
      values_[field(line, "key")] = field(line, "value"), answer(client, "put_result rc=0 msg=success");
    else if (command == "get")
      get(client, field(line, "key"));
    else if (command == "barrier_in")
      enter_barrier(client);
    else if (command == "finalize")
      answer(client, "finalize_ack rc=0");
    else if (command == "abort")
      kill_all();
  }

  void kill_all() const {
    for (const Client& each : clients_)
      if (each.process != 0) kill(each.process, SIGKILL);
  }

  void get(const Client& client, const std::string& key) const {
    const auto found = values_.find(key);
    answer(client, found == values_.end() ? "get_result rc=-1 msg=key_not_found value=unknown"
                                          : "get_result rc=0 msg=success value=" + found->second);
  }

  void enter_barrier(Client& client) {
    client.is_in_barrier = true;
    if (!std::all_of(clients_.begin(), clients_.end(), [](const Client& each) { return each.is_in_barrier; }))
      return;
    for (Client& each : clients_) {
      each.is_in_barrier = false;
      answer(each, "barrier_out rc=0");
    }
  }

  std::vector<Client> clients_;
  std::map<std::string, std::string> values_;
  int exit_code_ = 0;
};

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 4) return std::fputs("pmi_server SIZE MAPPING PROGRAM [ARGUMENT ...]\n", stderr), 2;
  Server server(std::atoi(arguments[1]), arguments[2]);
  server.start(arguments + 3);
  return server.serve();
}
