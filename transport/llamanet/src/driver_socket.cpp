#include "driver_socket.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "llamada/llamanet/protocol.hpp"
#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {
namespace {

constexpr int events_max = 64;
constexpr long retry_ns = 1'000'000;
/// With `rejoin`: arena and eventfd.
constexpr std::size_t brought_descriptors_max = 2;
constexpr int source_shift = 56;

/// epoll_wait(), by whichever of its system calls there is.
int wait_for_events(int epoll, std::array<epoll_event, events_max>& ready,
                    std::chrono::milliseconds timeout) {
  const auto timeout_ms = static_cast<int>(timeout.count());
  const int count = ::epoll_wait(epoll, ready.data(), events_max, timeout_ms);
  if (count >= 0 || !is_refused(errno)) return count;
  return ::epoll_pwait(epoll, ready.data(), events_max, timeout_ms, nullptr);
}

}  // namespace

Result<DriverSocket> DriverSocket::open(FileDescriptor listener, Host& host) {
  DriverSocket socket(host);
  socket.listener_ = std::move(listener);
  socket.epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!socket.epoll_) return system_failure("epoll_create1");
  socket.retry_ = FileDescriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!socket.retry_) return system_failure("timerfd_create");
  std::array<epoll_event, events_max> none_yet;
  if (wait_for_events(socket.epoll_.get(), none_yet, std::chrono::milliseconds(0)) < 0)
    return system_failure("epoll_wait");
  if (auto watched = socket.watch(socket.retry_.get(), Source::retry, 0); !watched) return propagate(watched);
  if (auto watched = socket.watch(socket.listener_.get(), Source::listener, 0); !watched)
    return propagate(watched);
  // Where no connection can be accepted, nobody else could be told.
  if (auto early = accept_from(socket.listener_.get()); early)
    socket.admit(std::move(*early));
  else if (is_refused(early.error().system_errno()))
    return propagate(early);
  return socket;
}

Status DriverSocket::watch(int descriptor, Source source, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = static_cast<std::uint64_t>(source) << source_shift | number;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) return system_failure("epoll_ctl");
  return {};
}

Status DriverSocket::watch_process(int process, std::uint32_t slot) {
  return watch(process, Source::process, slot);
}

Status DriverSocket::watch_bell(int event) {
  return watch(event, Source::bell, static_cast<std::uint64_t>(event));
}

Status DriverSocket::watch_links(const std::vector<int>& descriptors) {
  for (const int descriptor : descriptors)
    if (auto watched = watch(descriptor, Source::link, 0); !watched) return watched;
  return {};
}

void DriverSocket::poll(std::chrono::milliseconds timeout) {
  std::array<epoll_event, events_max> ready;
  const int count = wait_for_events(epoll_.get(), ready, timeout);
  for (int i = 0; i < count; ++i) handle(ready[static_cast<std::size_t>(i)].data.u64);
}

void DriverSocket::handle(std::uint64_t key) {
  const auto number = key & ((std::uint64_t{1} << source_shift) - 1);
  switch (static_cast<Source>(key >> source_shift)) {
    case Source::listener:
      return accept_all();
    case Source::connection:
      return serve(number);
    case Source::process:
      return host_->on_process_end(static_cast<std::uint32_t>(number));
    case Source::retry:
      return retry_unsent();
    case Source::bell:
      // Before anybody looks at logs: a commit that comes later rings again.
      clear(static_cast<int>(number));
      return host_->on_bell();
    case Source::link:
      return host_->on_links();
  }
}

void DriverSocket::accept_all() {
  for (;;) {
    auto socket = accept_from(listener_.get());
    if (socket) {
      cannot_accept_ = false;
      admit(std::move(*socket));
      continue;
    }
    // Said once, for it is tried again with every poll.
    if (socket.error().code() != Errc::would_block && !std::exchange(cannot_accept_, true))
      host_->on_refused({}, socket.error().text());
    return;
  }
}

void DriverSocket::admit(FileDescriptor socket) {
  const auto credentials = credentials_of(socket.get());
  if (!credentials) return;
  Caller caller;
  caller.pid = static_cast<std::uint32_t>(credentials->pid);
  if (!may_deal_with(::geteuid(), credentials->uid))
    return host_->on_refused(
        caller, fmt::format("process {} of user {} may not attach to a driver of user {}", credentials->pid,
                            credentials->uid, ::geteuid()));
  const auto number = ++connection_last_;
  if (!watch(socket.get(), Source::connection, number)) return;
  connections_.emplace(number, Connection{std::move(socket), caller, {}});
}

void DriverSocket::serve(std::uint64_t number) {
  for (;;) {
    const auto found = connections_.find(number);
    if (found == connections_.end() || found->second.unsent.size() >= unsent_answers_max) return;
    auto datagram = receive_datagram(found->second.socket.get(), false, brought_descriptors_max);
    if (datagram) {
      const Status handled = host_->on_datagram(number, std::move(*datagram));
      if (!handled) return refuse(number, handled.error());
      continue;
    }
    if (datagram.error().code() == Errc::would_block) return;
    if (datagram.error().code() == Errc::closed) return close(number);
    return refuse(number, datagram.error());
  }
}

Result<FileDescriptor> DriverSocket::process_of(std::uint64_t number) const {
  const auto& connection = connections_.at(number);
  return pidfd_of(connection.socket.get(), static_cast<pid_t>(connection.caller.pid));
}

void DriverSocket::answer(std::uint64_t number, Answer answer) {
  auto& connection = connections_.at(number);
  if (connection.unsent.empty()) {
    const Status sent = transmit(connection, answer);
    if (sent || sent.error().code() == Errc::closed)
      return;  // the connection's end is dealt with where it shows
    if (sent.error().code() != Errc::would_block) return refuse(number, sent.error());
  }
  connection.unsent.push_back(std::move(answer));
  schedule_retry();
}

Status DriverSocket::transmit(Connection& connection, const Answer& answer) {
  Passengers passengers;
  if (answer.board)
    if (auto boarded = answer.board(passengers); !boarded) return boarded;
  return send_datagram(connection.socket.get(), answer.bytes, passengers.descriptors);
}

bool DriverSocket::has_unsent() const {
  return std::ranges::any_of(connections_, [](const auto& each) { return !each.second.unsent.empty(); });
}

void DriverSocket::retry_unsent() {
  std::uint64_t expirations;
  (void)!::read(retry_.get(), &expirations, sizeof(expirations));
  bool some_left = false;
  std::vector<std::uint64_t> unblocked;
  std::vector<std::pair<std::uint64_t, Error>> refused;
  for (auto& [number, connection] : connections_) {
    const bool was_full = connection.unsent.size() >= unsent_answers_max;
    while (!connection.unsent.empty()) {
      const Status sent = transmit(connection, connection.unsent.front());
      if (!sent && sent.error().code() == Errc::would_block) break;
      if (!sent && sent.error().code() != Errc::closed) {
        refused.emplace_back(number, sent.error());
        break;
      }
      connection.unsent.pop_front();
    }
    some_left |= !connection.unsent.empty();
    if (was_full && connection.unsent.empty()) unblocked.push_back(number);
  }
  if (some_left) schedule_retry();
  for (const auto& [number, error] : refused) refuse(number, error);
  for (const auto number : unblocked) serve(number);
}

void DriverSocket::schedule_retry() {
  itimerspec once{};
  once.it_value.tv_nsec = retry_ns;
  ::timerfd_settime(retry_.get(), 0, &once, nullptr);
}

void DriverSocket::refuse(std::uint64_t number, const Error& error) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  host_->on_refused(found->second.caller, error.text());
  (void)send_datagram(found->second.socket.get(), encode({0, ErrorMessage{error.code(), error.text()}}));
  close(number);
}

void DriverSocket::close(std::uint64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  host_->on_close(found->second.caller);
  connections_.erase(found);
}

}  // namespace llamada::llamanet
