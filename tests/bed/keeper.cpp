#include "keeper.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "llamada/base/clock.hpp"
#include "network.hpp"

namespace llamada::bed {
namespace {

constexpr int clients_max = 64;
constexpr std::string_view peer_word = "peer=";

/// Kinds of namespaces in the order in which they are entered.
constexpr const char* kinds[] = {"mnt", "uts", "ipc", "net", "pid"};

/// The bridge's namespace only carries frames, and sends none of its own.
void forbid_ipv6() {
  for (const char* which : {"all", "default"})
    std::ofstream(fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", which)) << 1;
}

}  // namespace

Result<Keeper> Keeper::open(const BedName& name, const BedOptions& options) {
  Keeper keeper;
  keeper.name_ = name;
  keeper.options_ = options;
  if (auto done = mount_proc(); !done) return propagate(done);
  forbid_ipv6();
  if (auto done = run_ip(bridge_lines()); !done) return propagate(done);
  std::string links;
  for (int index = 0; index < options.nodes; ++index) {
    auto node = Node::start(index, options.nodes, name.id, options.mtu);
    if (!node) return propagate(node);
    links += link_lines(index, node->pid(), options.mtu);
    keeper.nodes_.push_back(std::move(*node));
  }
  if (auto done = run_ip(links); !done) return propagate(done);
  for (Node& node : keeper.nodes_)
    if (auto done = node.finish(); !done) return propagate(done);
  return keeper;
}

void Keeper::run(FileDescriptor listener, FileDescriptor owner) {
  while (!is_over_) wait(listener, owner);
  end_all();
}

void Keeper::wait(const FileDescriptor& listener, const FileDescriptor& owner) {
  std::vector<pollfd> sources{{owner.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
  for (const FileDescriptor& client : clients_) sources.push_back({client.get(), POLLIN, 0});
  const std::size_t clients_end = sources.size();
  for (const Node& node : nodes_) sources.push_back({node.process(), POLLIN, 0});
  std::optional<std::chrono::nanoseconds> due;
  for (const auto& [index, relay] : relays_) {
    sources.push_back({relay->node_descriptor(), POLLIN, 0});
    sources.push_back({relay->network_descriptor(), POLLIN, 0});
    if (const auto next = relay->due(); next && (!due || *next < *due)) due = next;
  }
  timespec limit{};
  if (due) {
    const auto left = std::max<std::int64_t>((*due - SystemClock().monotonic()).count(), 0);
    limit = {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  }
  if (::ppoll(sources.data(), sources.size(), due ? &limit : nullptr, nullptr) < 0) return;
  for (const auto& [index, relay] : relays_) relay->work();
  is_over_ = sources[0].revents != 0;
  std::vector<FileDescriptor> left;
  for (std::size_t i = 2; i < clients_end; ++i)
    if (sources[i].revents == 0 || serve(sources[i].fd)) left.push_back(std::move(clients_[i - 2]));
  clients_ = std::move(left);
  if (sources[1].revents != 0) accept(listener);
  // Its veth pair goes with a dead node's network namespace.
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (sources[clients_end + i].revents != 0) nodes_[i].collect();
}

void Keeper::accept(const FileDescriptor& listener) {
  FileDescriptor client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (client && clients_.size() < clients_max) clients_.push_back(std::move(client));
}

bool Keeper::serve(int client) {
  auto request = receive_message(client);
  if (!request) return request.error().code() == Errc::would_block;
  auto answered = answer(words_of(request->text));
  if (!answered) {
    (void)send_message(client, "error " + answered.error().text());
    return false;
  }
  std::vector<int> descriptors;
  for (const FileDescriptor& each : answered->descriptors) descriptors.push_back(each.get());
  (void)send_message(client, "ok " + answered->text, descriptors);
  return false;
}

Result<ControlMessage> Keeper::answer(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "down") {
    is_over_ = true;
    return ControlMessage{};
  }
  if (verb == "count") return ControlMessage{std::to_string(nodes_.size()), {}};
  if (words.size() < 2) return failure(Errc::parse_error, "the request '{}' names no node", verb);
  auto index = verb == "relay" ? node_number(words[1]) : living_node(words[1]);
  if (!index) return propagate(index);
  if (verb == "enter") return namespaces_of(nodes_[static_cast<std::size_t>(*index)]);
  if (verb == "kill") {
    nodes_[static_cast<std::size_t>(*index)].kill();
    return ControlMessage{};
  }
  if (verb == "relay") return relay(*index, {words.begin() + 2, words.end()});
  return failure(Errc::parse_error, "a bed knows no '{}'", verb);
}

Result<int> Keeper::node_number(const std::string& text) const {
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error == std::errc() && end == text.data() + text.size() && index >= 0 &&
      index < static_cast<int>(nodes_.size()))
    return index;
  return failure(Errc::not_found, "there is no node '{}'; the bed has nodes 0 to {}", text,
                 nodes_.size() - 1);
}

Result<int> Keeper::living_node(const std::string& text) const {
  auto index = node_number(text);
  if (index && !nodes_[static_cast<std::size_t>(*index)].is_alive())
    return failure(Errc::closed, "node {} is dead", *index);
  return index;
}

Result<ControlMessage> Keeper::namespaces_of(const Node& node) {
  ControlMessage message;
  // The bed's own user namespace, where it needed one, comes first: it allows what follows.
  FileDescriptor users(::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  if (users) message.descriptors.push_back(std::move(users));
  for (const char* kind : kinds) {
    auto opened = node.open_namespace(kind);
    if (!opened) return propagate(opened);
    message.descriptors.push_back(std::move(*opened));
  }
  return message;
}

/// "" for the counters, "off", or a direction, perhaps a peer, and faults.
Result<ControlMessage> Keeper::relay(int index, std::vector<std::string> words) {
  const auto found = relays_.find(index);
  if (words.empty()) {
    if (found == relays_.end()) return failure(Errc::not_found, "node {} has no relay", index);
    return ControlMessage{found->second->text(), {}};
  }
  if (words[0] == "off") {
    if (auto done = close_relay(index); !done) return propagate(done);
    return ControlMessage{};
  }
  std::optional<std::uint64_t> peer;
  if (words.size() > 1 && words[1].starts_with(peer_word)) {
    auto other = node_number(words[1].substr(peer_word.size()));
    if (!other) return propagate(other);
    peer = mac_of_node(*other);
    words.erase(words.begin() + 1);
  }
  if (auto opened = open_relay(index); !opened) return propagate(opened);
  if (auto changed = relays_[index]->change(words[0], peer, std::span(words).subspan(1)); !changed)
    return propagate(changed);
  return ControlMessage{};
}

Status Keeper::open_relay(int index) {
  if (relays_.contains(index)) return {};
  const Node& node = nodes_[static_cast<std::size_t>(index)];
  if (!node.is_alive()) return failure(Errc::closed, "node {} is dead", index);
  auto network = node.open_namespace("net");
  if (!network) return propagate(network);
  if (auto done = run_ip(whole_frames_line("eth0", true), network->get()); !done) return done;
  const std::string bridge_end = fmt::format("p{}", index), inner_end = fmt::format("r{}", index);
  if (auto done = run_ip(detach_lines(index, options_.mtu) + whole_frames_line(bridge_end, true)); !done)
    return done;
  auto relay = Relay::open(fmt::format("n{}", index), inner_end,
                           options_.seed * nodes_max + static_cast<std::uint64_t>(index));
  if (!relay) return propagate(relay);
  relays_[index] = std::move(*relay);
  return {};
}

Status Keeper::close_relay(int index) {
  if (relays_.erase(index) == 0) return {};
  if (!nodes_[static_cast<std::size_t>(index)].is_alive())
    return run_ip(fmt::format("link del r{}\n", index));
  if (auto done = run_ip(attach_lines(index)); !done) return done;
  auto network = nodes_[static_cast<std::size_t>(index)].open_namespace("net");
  if (!network) return propagate(network);
  return run_ip(whole_frames_line("eth0", false), network->get());
}

void Keeper::end_all() {
  ::kill(-1, SIGKILL);
  while (::waitpid(-1, nullptr, 0) >= 0 || errno == EINTR) {
  }
}

}  // namespace llamada::bed
