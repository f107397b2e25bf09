#include "remote_nodes.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "llamada/launcher/job_number.hpp"
#include "own_addresses.hpp"
#include "process_watch.hpp"

namespace llamada::launcher {
namespace {

/// How long an agent may take until its llamanetd has connected.
constexpr std::chrono::seconds join_max{60};
/// How long a connection may take until it has said who it is, and how many of these there may be.
constexpr std::chrono::seconds greeting_max{10};
constexpr std::size_t strangers_max = 256;
/// How long agents may take to end when the job is over.
constexpr std::chrono::milliseconds agents_end_max{1000};
/// The same where their hosts get new ones: two cannot drive one node.
constexpr std::chrono::milliseconds agents_end_for_sure_max{10000};

std::string joined_text(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

}  // namespace

RemoteNodes::RemoteNodes(EventLoop& loop, AgentSurroundings surroundings, Actions actions)
    : loop_(loop), surroundings_(surroundings), actions_(std::move(actions)) {
  loop_.on_signal(SIGCHLD, [this] { look_at_agents(); });
}

RemoteNodes::~RemoteNodes() {
  for (const Stranger& stranger : strangers_) loop_.forget(stranger.socket.get());
  if (listener_.socket) loop_.forget(listener_.socket.get());
}

Status RemoteNodes::start(const control::Start& job) {
  auto secret = draw_secret();
  if (!secret) return propagate(secret);
  auto listener = listen_for_nodes();
  if (!listener) return propagate(listener);
  secret_ = *secret;
  job_number_ = job.job_number;
  own_node_ = control::own_node_of(job.nodes);
  listener_ = std::move(*listener);
  loop_.watch(listener_.socket.get(), POLLIN, [this](short) { accept_all(); });
  loop_.after(join_max, [this] { look_for_late_ones(); });
  remotes_.resize(job.nodes.size());
  for (std::uint32_t node = 0; node < job.nodes.size(); ++node) {
    remotes_[node].is_other = !job.nodes[node].agent.empty();
    remotes_[node].name = job.nodes[node].name;
  }
  for (std::uint32_t node = 0; node < job.nodes.size() && job.is_adopted == 0; ++node)
    if (remotes_[node].is_other) start_agent(node, job.nodes[node].agent);
  return {};
}

std::string RemoteNodes::invitation() const {
  std::string secret;
  for (const std::byte byte : secret_) secret += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return fmt::format("{};{};{};{}", job_number_text(job_number_), joined_text(own_ipv4_addresses(), ","),
                     listener_.port, secret);
}

std::vector<std::string> RemoteNodes::command_for(std::uint32_t node,
                                                  const std::vector<std::string>& agent) const {
  std::vector<std::string> command = agent;
  command.insert(command.end(), {"--node", std::to_string(node), "--job-number", job_number_text(job_number_),
                                 "--coordinator", joined_text(own_ipv4_addresses(), ","), "--port",
                                 std::to_string(listener_.port)});
  return command;
}

void RemoteNodes::start_agent(std::uint32_t node, const std::vector<std::string>& agent) {
  auto process = NodeAgentProcess::start(command_for(node, agent), secret_, surroundings_);
  if (!process) return lose(node, process.error().text());
  actions_.agent_started(process->pid());
  remotes_[node].agent = std::move(*process);
}

void RemoteNodes::look_at_agents() {
  for (std::uint32_t node = 0; node < remotes_.size(); ++node)
    if (Remote& remote = remotes_[node]; remote.agent)
      if (const auto status = remote.agent->look()) agent_ended(node, *status);
}

void RemoteNodes::agent_reaped(pid_t agent, int wait_status) {
  for (std::uint32_t node = 0; node < remotes_.size(); ++node) {
    auto& process = remotes_[node].agent;
    if (!process || process->pid() != agent || process->has_ended()) continue;
    process->set_ended();
    agent_ended(node, wait_status);
  }
}

void RemoteNodes::agent_ended(std::uint32_t node, int wait_status) {
  const Remote& remote = remotes_[node];
  const std::string agent = fmt::format("its agent {} {}", remote.agent->name(), describe_end(wait_status));
  lose(node, remote.link ? agent : agent + " before llamanetd there had connected");
}

void RemoteNodes::accept_all() {
  for (;;) {
    FileDescriptor socket(accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    const auto nonce = draw_nonce();
    if (!nonce) continue;
    if (strangers_.size() == strangers_max) drop(strangers_.begin());
    const auto stranger = strangers_.insert(
        strangers_.end(),
        {std::move(socket),
         NodeGreeting(job_number_, static_cast<std::uint32_t>(remotes_.size()), secret_, *nonce),
         {},
         0});
    stranger->timer = loop_.after(greeting_max, [this, stranger] { drop(stranger); });
    loop_.watch(stranger->socket.get(), POLLIN, [this, stranger](short) { read(stranger); });
  }
}

void RemoteNodes::drop(Strangers::iterator stranger) {
  loop_.cancel(stranger->timer);
  loop_.forget(stranger->socket.get());
  strangers_.erase(stranger);
}

/// Never more than what its greeting wants: what follows is for the link.
void RemoteNodes::read(Strangers::iterator stranger) {
  while (stranger->greeting.wanted_bytes() > 0) {
    std::byte bytes[hello_size_bytes];
    const std::size_t wanted = stranger->greeting.wanted_bytes() - stranger->read.size();
    const ssize_t count = recv(stranger->socket.get(), bytes, wanted, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return drop(stranger);
    stranger->read.insert(stranger->read.end(), bytes, bytes + count);
    if (static_cast<std::size_t>(count) == wanted && !take(*stranger)) return drop(stranger);
  }
  welcome(stranger);
}

/// An answer is much smaller than a socket's buffer.
Status RemoteNodes::take(Stranger& stranger) {
  auto answer = stranger.greeting.take(std::exchange(stranger.read, {}));
  if (!answer) return propagate(answer);
  const ssize_t sent =
      ::send(stranger.socket.get(), answer->data(), answer->size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(answer->size()) ? Status() : Status(system_failure("send"));
}

void RemoteNodes::welcome(Strangers::iterator stranger) {
  const NodeHello hello = stranger->greeting.hello();
  FileDescriptor socket = std::move(stranger->socket);
  loop_.cancel(stranger->timer);
  loop_.forget(socket.get());
  strangers_.erase(stranger);
  Remote& remote = remotes_[hello.node];
  if (remote.link || remote.is_lost || !remote.is_other) return;
  if (hello.version != own_version())
    return lose(hello.node,
                fmt::format("Llamada {} is installed there, and Llamada {} here; install the same version "
                            "on all hosts",
                            hello.version, own_version()));
  prepare_stream(socket);
  if (own_address_.empty()) own_address_ = own_address_of(socket);
  remote.link = std::make_unique<LinkToNode>(
      loop_, LinkToNode::Stream{std::move(socket)},
      [this, node = hello.node](node::FromNode message) { take(node, std::move(message)); },
      [this, node = hello.node](const Error& error) {
        lose(node, error.code() == Errc::closed ? "llamanetd there has ended, or can no longer be reached"
                                                : error.text());
      });
  actions_.joined(hello.node);
}

void RemoteNodes::take(std::uint32_t node, node::FromNode message) {
  if (const auto* complaint = std::get_if<node::Unheard>(&message)) return unheard(node, complaint->nodes);
  const auto* question = std::get_if<node::AskLease>(&message);
  if (!question) return actions_.take(node, std::move(message));
  if (!leases_) {
    leases_.emplace(lease_length_);
    complaints_.emplace(lease_length_, own_node_);
    look_at_leases();
  }
  leases_->asked(node, NodeLease::TimePoint::clock::now());
  send(node, node::AnswerLease{question->question});
}

void RemoteNodes::look_at_leases() {
  loop_.after(node_look_interval(lease_length_), [this] { look_at_leases(); });
  for (const auto& [node, silent_for] : leases_->look(NodeLease::TimePoint::clock::now()))
    lose(node, fmt::format("nothing has been heard of it for {:.1f} s",
                           std::chrono::duration<double>(silent_for).count()));
  if (const auto verdict = complaints_->look(NodeComplaints::TimePoint::clock::now()))
    lose(verdict->lost, fmt::format("it and the node '{}' have not heard each other for more than {:.1f} s",
                                    remotes_[verdict->other].name,
                                    std::chrono::duration<double>(node_silence_max(lease_length_)).count()));
}

void RemoteNodes::unheard(std::uint32_t node, const std::vector<std::uint32_t>& others) {
  if (complaints_) complaints_->take(node, others);
}

void RemoteNodes::look_for_late_ones() {
  for (std::uint32_t node = 0; node < remotes_.size(); ++node)
    if (remotes_[node].is_other && !remotes_[node].link)
      lose(node, fmt::format("llamanetd there has not connected within {} s{}", join_max.count(),
                             remotes_[node].agent ? "; its agent is " + remotes_[node].agent->name() : ""));
}

/// Whatever still lives there ends when the agent's input and the stream do.
void RemoteNodes::lose(std::uint32_t node, std::string why) {
  Remote& remote = remotes_[node];
  if (std::exchange(remote.is_lost, true)) return;
  if (leases_) leases_->forget(node);
  if (complaints_) complaints_->forget(node);
  if (remote.agent) remote.agent->close_input();
  loop_.after(std::chrono::nanoseconds(0), [&remote] { remote.link.reset(); });  // which may be calling us
  actions_.lost(node, std::move(why));
}

void RemoteNodes::send(std::uint32_t node, const node::ToNode& message) {
  if (const auto* prepare = std::get_if<node::Prepare>(&message))
    lease_length_ = std::chrono::nanoseconds(prepare->node_lease_ns);
  if (Remote& remote = remotes_[node]; remote.link && !remote.is_lost) remote.link->send(message);
}

void RemoteNodes::cut(std::uint32_t node, Direction direction, std::chrono::nanoseconds length) {
  cut_more(node, direction, 1);
  if (length > std::chrono::nanoseconds(0))
    loop_.after(length, [this, node, direction] { cut_more(node, direction, -1); });
}

void RemoteNodes::cut_more(std::uint32_t node, Direction direction, std::int32_t more) {
  Remote& remote = remotes_[node];
  std::uint32_t& cuts = direction == Direction::to_node ? remote.cuts_to : remote.cuts_from;
  cuts += static_cast<std::uint32_t>(more);
  if (!remote.link) return;
  if (direction == Direction::to_node)
    remote.link->pause_writing(cuts > 0);
  else
    remote.link->pause_reading(cuts > 0);
}

void RemoteNodes::end() { wait_for_agents(agents_end_max); }

void RemoteNodes::end_all() {
  for (const Remote& remote : remotes_)
    if (remote.is_lost && remote.agent && !remote.agent->has_ended()) kill(remote.agent->pid(), SIGKILL);
  wait_for_agents(agents_end_for_sure_max);
  for (const Remote& remote : remotes_)
    if (remote.agent && !remote.agent->has_ended()) kill(remote.agent->pid(), SIGKILL);
}

void RemoteNodes::wait_for_agents(std::chrono::milliseconds max) {
  for (Remote& remote : remotes_) {
    remote.is_lost = true;
    remote.link.reset();
    if (remote.agent) remote.agent->close_input();
  }
  const auto limit = std::chrono::steady_clock::now() + max;
  const auto one_lives = [this] {
    look_at_agents();
    return std::any_of(remotes_.begin(), remotes_.end(),
                       [](const Remote& remote) { return remote.agent && !remote.agent->has_ended(); });
  };
  while (one_lives() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace llamada::launcher
