// tests/support/nodes: a test bed of nodes, which are network, mount, UTS, IPC and PID namespaces on one
// bridge.
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <map>

#include "agents.hpp"
#include "control.hpp"
#include "enter.hpp"
#include "keeper.hpp"

namespace llamada::bed {
namespace {

constexpr const char* usage = R"(nodes up COUNT [--mtu BYTES] [--seed NUMBER] [--owner PID]
    makes a bed of nodes and prints its id. It ends with `nodes down`, or with its owner: the process that has called
    this, unless --owner names another one (a bed made within $( ) of a script: --owner $$)
nodes run COUNT [--mtu BYTES] [--seed NUMBER] -- COMMAND ...
    runs a command beside a bed that ends with it; LLAMADA_BED is its id
nodes exec NODE COMMAND ...
    runs a command in a node, 0 to COUNT - 1: node K has the address 10.77.0.(K + 1), and the others' names (node0, ...)
nodes agents SOCKET
    runs commands in nodes for programs within nodes, at a new socket in the file system, until its parent ends
nodes agent SOCKET NODE COMMAND ...
    runs a command in a node (K or nodeK) from within another, by such a server: what ssh is for hosts
nodes relay NODE from|to|both [peer=NODE] [seed=NUMBER] [FAULT ...]
    lets a relay carry the frames from the node, to it, or both, and changes what it does to them (with peer= only to those
    between the two): loss=1% duplicate=1% corrupt=1% reorder=5% delay=2ms jitter=500us cut cut=no none.
    The seed says which frames: the same ones of each kind of traffic whenever it runs
nodes relay NODE          what has become of the frames
nodes relay NODE off      the kernel carries them again
nodes kill NODE           as if its power were cut
nodes down                ends the bed, and all that runs in it
nodes list                each bed of this user: its id, and the processes that own it and that are its keeper

--bed ID before the command names the bed; else LLAMADA_BED does, else it is the one that this process's parent owns, or
the nearest further ancestor. Where the machine refuses namespaces: "SKIPPED: reason", and exit status 77.
)";

constexpr int exit_usage = 2;
constexpr int mtu_min = 576, mtu_max = 65535;

struct Arguments {
  std::vector<std::string> words;
  std::optional<std::string> bed;
};

int fail(const Error& error) {
  if (error.code() == Errc::permission_denied || error.code() == Errc::unsupported) {
    std::printf("SKIPPED: nodes: this machine makes no network and PID namespaces here (%s)\n",
                error.text().c_str());
    return exit_skipped;
  }
  std::fprintf(stderr, "nodes: %s\n", error.text().c_str());
  return 1;
}

int fail_usage(const std::string& why) {
  std::fprintf(stderr, "nodes: %s\n%s", why.c_str(), usage);
  return exit_usage;
}

std::optional<std::int64_t> number_in(const std::string& text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max)
    return std::nullopt;
  return value;
}

struct Making {
  BedOptions options;
  pid_t owner = 0;
  std::vector<std::string> command;  // behind --
};

/// COUNT and options, without the verb.
Result<Making> parse_making(const std::vector<std::string>& words, pid_t owner) {
  Making making;
  making.owner = owner;
  std::int64_t count = 0, mtu = making.options.mtu, seed = 1, named_owner = owner;
  struct Option {
    std::int64_t* value;
    std::int64_t min, max;
  };
  const std::map<std::string, Option> options{{"--mtu", {&mtu, mtu_min, mtu_max}},
                                              {"--seed", {&seed, 0, INT64_MAX}},
                                              {"--owner", {&named_owner, 1, INT32_MAX}}};
  if (words.size() < 2) return failure(Errc::parse_error, "'{}' takes a number of nodes", words[0]);
  const auto given = number_in(words[1], 1, nodes_max);
  if (!given) return failure(Errc::parse_error, "'{}': a bed has 1 to {} nodes", words[1], nodes_max);
  count = *given;
  for (std::size_t i = 2; i < words.size(); i += 2) {
    if (words[i] == "--") {
      making.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    const auto option = options.find(words[i]);
    if (option == options.end()) return failure(Errc::parse_error, "there is no option '{}'", words[i]);
    const auto value =
        i + 1 < words.size() ? number_in(words[i + 1], option->second.min, option->second.max) : std::nullopt;
    if (!value)
      return failure(Errc::parse_error, "{} takes a number from {} to {}", words[i], option->second.min,
                     option->second.max);
    *option->second.value = *value;
  }
  making.options.nodes = static_cast<int>(count);
  making.options.mtu = static_cast<int>(mtu);
  making.options.seed = static_cast<std::uint64_t>(seed);
  making.owner = static_cast<pid_t>(named_owner);
  return making;
}

Result<BedName> make(const Making& making) {
  auto name = new_name(making.owner);
  if (!name) return name;
  if (auto started = start_keeper(*name, making.options); !started) return propagate(started);
  return name;
}

/// 0: it is gone.
pid_t keeper_of(int socket) {
  ucred keeper{};
  socklen_t size = sizeof keeper;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &keeper, &size) == 0 ? keeper.pid : 0;
}

/// Waits until the kernel has ended all of it.
Status end_bed(const BedName& bed) {
  auto socket = connect_to(bed);
  if (!socket) return propagate(socket);
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, keeper_of(socket->get()), 0)));
  if (auto sent = send_message(socket->get(), "down"); !sent) return sent;
  pollfd ended{process.get(), POLLIN, 0};
  while (process && ::poll(&ended, 1, -1) < 0) {
  }
  return {};
}

int up(const Arguments& arguments) {
  auto making = parse_making(arguments.words, ::getppid());
  if (!making) return fail_usage(making.error().text());
  if (!making->command.empty()) return fail_usage("'up' runs no command; 'run' does");
  auto bed = make(*making);
  if (!bed) return fail(bed.error());
  std::printf("%s\n", bed->id.c_str());
  return 0;
}

int run_with_bed(const Arguments& arguments) {
  auto making = parse_making(arguments.words, ::getpid());
  if (!making) return fail_usage(making.error().text());
  if (making->command.empty()) return fail_usage("'run' takes a command behind --");
  auto bed = make(*making);
  if (!bed) return fail(bed.error());
  auto status = run_beside(*bed, making->command);
  if (auto ended = end_bed(*bed); !ended && ended.error().code() != Errc::not_found)
    return fail(ended.error());
  return status ? *status : fail(status.error());
}

int as_agent(const std::vector<std::string>& words) {
  if (words.size() < 4) return fail_usage("'agent' takes a socket, a node and a command");
  auto status = run_by_agent(words[1], words[2], {words.begin() + 3, words.end()});
  return status ? *status : fail(status.error());
}

int list() {
  for (const BedName& bed : all_beds())
    if (auto socket = connect_to(bed))
      std::printf("%s %d %d\n", bed.id.c_str(), bed.owner, keeper_of(socket->get()));
  return 0;
}

/// A command to a bed that is there.
int command(const Arguments& arguments) {
  const auto& words = arguments.words;
  const std::string& verb = words[0];
  auto bed = find_bed(arguments.bed);
  if (!bed) return fail(bed.error());
  if (verb == "down") {
    auto ended = end_bed(*bed);
    return ended ? 0 : fail(ended.error());
  }
  if (words.size() < 2) return fail_usage("'" + verb + "' takes a node, or a socket");
  if (verb == "agents") return fail(serve_agents(*bed, words[1]).error());
  if (verb == "exec") {
    if (words.size() < 3) return fail_usage("'exec' takes a command");
    auto status = run_in_node(*bed, words[1], {words.begin() + 2, words.end()});
    if (status) return *status;
    std::fprintf(stderr, "nodes: %s\n", status.error().text().c_str());
    return 1;
  }
  auto answer = ask(*bed, fmt::format("{}", fmt::join(words, " ")));
  if (!answer) return fail(answer.error());
  std::fputs(answer->text.c_str(), stdout);
  return 0;
}

int main(const std::vector<std::string>& all) {
  Arguments arguments{all, std::nullopt};
  auto& words = arguments.words;
  if (words.size() > 1 && words[0] == "--bed") {
    arguments.bed = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty()) return fail_usage("a command is missing");
  if (words[0] == "up") return up(arguments);
  if (words[0] == "run") return run_with_bed(arguments);
  if (words[0] == "list") return list();
  if (words[0] == "agent") return as_agent(words);
  if (words[0] == "agents" || words[0] == "exec" || words[0] == "down" || words[0] == "kill" ||
      words[0] == "relay")
    return command(arguments);
  if (words[0] == "help" || words[0] == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  return fail_usage("there is no command '" + words[0] + "'");
}

}  // namespace
}  // namespace llamada::bed

int main(int count, char** arguments) { return llamada::bed::main({arguments + 1, arguments + count}); }
