#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <thread>
#include <utility>

#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/guardian.hpp"
#include "llamada/launcher/node_agent.hpp"
#include "message_link.hpp"
#include "node_handshake.hpp"
#include "node_lease.hpp"
#include "node_supervisor.hpp"
#include "output_hold.hpp"
#include "process_tree.hpp"
#include "process_watch.hpp"
#include "tcp.hpp"

namespace llamada::launcher {
namespace {

/// How long the coordinator may take until it has answered, at any of its addresses.
constexpr std::chrono::seconds connect_max{20};

/// Within what time the guardian has ended us when the coordinator is dead.
constexpr std::chrono::milliseconds guardian_end_max{2 * llamanetd_grace};

using TimePoint = std::chrono::steady_clock::time_point;

int milliseconds_until(TimePoint limit) {
  const auto left = limit - std::chrono::steady_clock::now();
  return static_cast<int>(
      std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(left).count(), 0));
}

bool read_all(const FileDescriptor& socket, std::span<std::byte> bytes, TimePoint limit) {
  while (!bytes.empty()) {
    pollfd one{socket.get(), POLLIN, 0};
    if (poll(&one, 1, milliseconds_until(limit)) != 1) return false;
    const ssize_t count = recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool write_all(const FileDescriptor& socket, std::span<const std::byte> bytes) {
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

/// Whether the peer has shown that it is the job's coordinator.
bool greet(const FileDescriptor& socket, const NodeIdentity& identity, const NodeSecret& secret,
           TimePoint limit) {
  const auto nonce = draw_nonce();
  if (!nonce) return false;
  const HelloBytes own = encode(NodeHello{own_version(), identity.job_number, identity.node, *nonce});
  HelloBytes other;
  ProofBytes proof;
  return write_all(socket, own) && read_all(socket, other, limit) &&
         write_all(socket, proof_of(HandshakeSide::node, own, other, secret)) &&
         read_all(socket, proof, limit) &&
         is_same(proof, proof_of(HandshakeSide::coordinator, own, other, secret));
}

/// Tries all addresses at once: some may be those of networks that this host does not reach, or that belong
/// to other hosts here.
FileDescriptor connect(const NodeIdentity& identity, const NodeSecret& secret) {
  const TimePoint limit = std::chrono::steady_clock::now() + connect_max;
  std::vector<FileDescriptor> sockets;
  for (const std::string& address : identity.coordinators)
    if (auto socket = begin_to_connect(address, identity.port)) sockets.push_back(std::move(*socket));
  while (!sockets.empty() && milliseconds_until(limit) > 0) {
    std::vector<pollfd> polled;
    for (const FileDescriptor& socket : sockets) polled.push_back({socket.get(), POLLOUT, 0});
    if (poll(polled.data(), polled.size(), milliseconds_until(limit)) <= 0) break;
    for (std::size_t i = polled.size(); i-- > 0;) {
      if (polled[i].revents == 0) continue;
      FileDescriptor socket = std::move(sockets[i]);
      sockets.erase(sockets.begin() + static_cast<std::ptrdiff_t>(i));
      if (greet(socket, identity, secret, limit)) return socket;
    }
  }
  return {};
}

bool read_secret(const FileDescriptor& pipe, NodeSecret& secret) {
  return read(pipe.get(), secret.data(), secret.size()) == static_cast<ssize_t>(secret.size());
}

/// As RemoteNodes::invitation() writes it.
bool read_written_secret(const FileDescriptor& pipe, NodeSecret& secret) {
  char digits[2 * sizeof secret];
  if (read(pipe.get(), digits, sizeof digits) != sizeof digits) return false;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    std::uint8_t byte = 0;
    const char* const begin = digits + 2 * i;
    const auto number = std::from_chars(begin, begin + 2, byte, 16);
    if (number.ec != std::errc() || number.ptr != begin + 2) return false;
    secret[i] = std::byte{byte};
  }
  return true;
}

/// The supervisor of a node whose coordinator is at the other end of a stream.
class NodeDriver {
 public:
  NodeDriver(FileDescriptor socket, NodeSupervisor::Links links, const ArenasFactory& make_arenas,
             Adoption adoption)
      : supervisor_(loop_, make_arenas, [this](const node::FromNode& message) { link_.send(message); }),
        link_(
            loop_, LinkToCoordinator::Stream{std::move(socket)},
            [this](node::ToNode message) { take(std::move(message)); },
            [this](const Error&) { is_over_ = true; }) {
    supervisor_.set_links(std::move(links));
    if (!adoption.processes.empty()) supervisor_.adopt(std::move(adoption));
    loop_.on_signal(SIGTERM, [this] { link_.send(node::NodeStopping{}); });
  }

  Status run() {
    while (!is_over_) {
      if (auto status = loop_.run_once(); !status) return status;
      hold_output_if_needed();
    }
    return {};
  }

 private:
  void take(node::ToNode message) {
    if (const auto* hold = std::get_if<node::HoldOutput>(&message)) {
      held_by_coordinator_ = hold->hold;
      return hold_output_if_needed();
    }
    if (const auto* answer = std::get_if<node::AnswerLease>(&message); answer && lease_)
      return obey(lease_->answered(answer->question, TimePoint::clock::now()));
    if (const auto* prepare = std::get_if<node::Prepare>(&message))
      lease_length_ = std::chrono::nanoseconds(prepare->node_lease_ns);
    if (std::holds_alternative<node::StartRanks>(message) && !lease_) begin_lease();
    supervisor_.take(std::move(message));
  }

  void begin_lease() {
    lease_.emplace(lease_length_);
    look_at_lease();
  }

  void look_at_lease() {
    loop_.after(node_look_interval(lease_length_), [this] { look_at_lease(); });
    const TimePoint now = TimePoint::clock::now();
    obey(lease_->look(now));
    link_.send(node::AskLease{lease_->ask(now)});
  }

  void obey(NodeLease::Deed deed) {
    if (deed == NodeLease::Deed::freeze) supervisor_.freeze(true);
    if (deed == NodeLease::Deed::thaw) supervisor_.freeze(false);
    if (deed == NodeLease::Deed::end) is_over_ = true;
  }

  /// While mpirun or the stream have much to take, the ranks' pipes are left alone, and the ranks wait.
  void hold_output_if_needed() {
    const bool hold = held_by_coordinator_ || must_hold_output(output_held_, link_.queued_bytes());
    if (std::exchange(output_held_, hold) != hold) supervisor_.take(node::HoldOutput{hold});
  }

  EventLoop loop_;
  bool is_over_ = false;
  bool output_held_ = false;
  bool held_by_coordinator_ = false;
  std::chrono::nanoseconds lease_length_{0};
  std::optional<NodeLease> lease_;  ///< since ranks run here
  NodeSupervisor supervisor_;
  LinkToCoordinator link_;
};

}  // namespace

int run_node_driver(const NodeIdentity& identity, FileDescriptor secret_pipe, const LastWord& last_word,
                    const ArenasFactory& make_arenas, Adoption adoption) {
  fcntl(last_word.descriptor(), F_SETFD, FD_CLOEXEC);
  NodeSecret secret;
  const bool is_adopted = !adoption.processes.empty();
  if (is_adopted ? !read_written_secret(secret_pipe, secret) : !read_secret(secret_pipe, secret))
    return exit_launcher;
  secret_pipe.reset();
  FileDescriptor socket = connect(identity, secret);
  if (!socket) {
    // When the coordinator is dead it is another one's to say, and we are killed meanwhile.
    std::this_thread::sleep_for(2 * guardian_end_max);
    say(fmt::format("mpirun: llamanetd of node {} cannot connect to mpirun's host (port {}).\n",
                    identity.node, identity.port));
    return exit_launcher;
  }
  prepare_stream(socket);
  NodeSupervisor::Links links{own_address_of(socket), frame_key(secret, identity.job_number)};
  const Status status =
      NodeDriver(std::move(socket), std::move(links), make_arenas, std::move(adoption)).run();
  kill_all_descendants();
  return status ? 0 : exit_launcher;
}

}  // namespace llamada::launcher
