// Datagrams for the tests of the bed.
//   traffic receive PORT QUIET_MS      prints "ready", then the number in each datagram that comes, until
//   none has come for so long traffic send ADDRESS PORT COUNT    sends numbers 0 to COUNT - 1, 5000 a second
//   traffic answer PORT                prints "ready", then sends each datagram back
//   traffic ask ADDRESS PORT           sends datagrams until one comes back; exit status 1: none has for 20 s
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t payload_bytes = 400;
constexpr long gap_ns = 200'000;

sockaddr_in address_of(const char* text, const char* port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  if (::inet_pton(AF_INET, text, &address.sin_addr) != 1) std::exit(2);
  return address;
}

int socket_at(const char* port) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  const sockaddr_in address = address_of("0.0.0.0", port);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::exit(2);
  return socket;
}

bool comes_within(int socket, int timeout_ms) {
  pollfd source{socket, POLLIN, 0};
  return ::poll(&source, 1, timeout_ms) == 1;
}

volatile std::sig_atomic_t is_over = 0;

/// No signal may come between the look at is_over and the wait.
int receive(const char* port) {
  constexpr int room_bytes = 16 << 20;
  const int socket = socket_at(port);
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &room_bytes, sizeof room_bytes);
  sigset_t end, none;
  ::sigemptyset(&end);
  ::sigaddset(&end, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &end, &none);
  ::signal(SIGTERM, [](int) { is_over = 1; });
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) {
    std::uint32_t number = 0;
    if (::recv(socket, &number, sizeof number, MSG_DONTWAIT) >= 0) {
      std::printf("%u\n", number);
      continue;
    }
    if (is_over) return 0;
    pollfd source{socket, POLLIN, 0};
    ::ppoll(&source, 1, nullptr, &none);
  }
}

int send(const char* to, const char* port, std::uint32_t count) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  const sockaddr_in address = address_of(to, port);
  std::array<std::byte, payload_bytes> payload{};
  for (std::uint32_t number = 0; number < count; ++number) {
    std::memcpy(payload.data(), &number, sizeof number);
    if (::sendto(socket, payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr*>(&address),
                 sizeof address) < 0)
      return 2;
    const timespec gap{0, gap_ns};
    ::nanosleep(&gap, nullptr);
  }
  return 0;
}

int answer(const char* port) {
  const int socket = socket_at(port);
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) {
    std::array<std::byte, payload_bytes> payload;
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got =
        ::recvfrom(socket, payload.data(), payload.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return 2;
    (void)::sendto(socket, payload.data(), static_cast<std::size_t>(got), 0,
                   reinterpret_cast<const sockaddr*>(&from), size);
  }
}

int ask(const char* to, const char* port) {
  constexpr int attempts = 200, wait_ms = 100;
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  const sockaddr_in address = address_of(to, port);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 2;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const timespec pause{0, 10'000'000};
    std::array<char, 5> back{};
    if (::send(socket, "hello", back.size(), 0) < 0 || !comes_within(socket, wait_ms) ||
        ::recv(socket, back.data(), back.size(), 0) < 0)
      ::nanosleep(&pause, nullptr);
    else
      return std::memcmp(back.data(), "hello", back.size()) == 0 ? 0 : 2;
  }
  return 1;
}

}  // namespace

int main(int count, char** words) {
  const std::string verb = count > 1 ? words[1] : "";
  if (verb == "receive" && count == 3) return receive(words[2]);
  if (verb == "send" && count == 5)
    return send(words[2], words[3], static_cast<std::uint32_t>(std::atoi(words[4])));
  if (verb == "answer" && count == 3) return answer(words[2]);
  if (verb == "ask" && count == 4) return ask(words[2], words[3]);
  return 2;
}
