// A stranger to a job between the nodes of a bed.
//
//   bed_forger watch FILE MILLISECONDS
//     Writes what comes to this node by UDP and is a frame of Llamada into FILE: what somebody on the path
//     sees. Ends when there are enough frames.
//   bed_forger send ADDRESS FILE SECONDS [UID]
//     Sends these frames again at full rate to where they had come, and forged ones, whose heads were
//     changed, and random bytes. Says how many of each. As this user, if this one may become that.
#include <arpa/inet.h>
#include <grp.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<char>;

constexpr std::size_t frames_max = 200;
constexpr std::size_t head_bytes = 64;

struct Frame {
  std::uint16_t port = 0;  // where it came, network byte order
  Bytes bytes;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

/// A frame of Llamada in an IPv4 packet, or nothing.
Frame frame_in(const char* packet, std::size_t size) {
  iphdr ip{};
  if (size < sizeof(ip)) return {};
  std::memcpy(&ip, packet, sizeof(ip));
  const std::size_t at = ip.ihl * std::size_t{4} + sizeof(udphdr);
  // A train is longer: the kernel has not divided it.
  if (ip.protocol != IPPROTO_UDP || size < at + head_bytes || size > 1500 ||
      std::memcmp(packet + at, "LM", 2) != 0)
    return {};
  udphdr udp{};
  std::memcpy(&udp, packet + at - sizeof(udp), sizeof(udp));
  return {udp.dest, Bytes(packet + at, packet + size)};
}

int watch(const std::string& path, std::chrono::milliseconds at_most) {
  const int socket = ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP));
  if (socket < 0) fail("socket");
  std::ofstream file(path, std::ios::binary);
  std::size_t count = 0;
  const auto end = Clock::now() + at_most;
  while (count < frames_max && Clock::now() < end) {
    pollfd one{socket, POLLIN, 0};
    if (::poll(&one, 1, 10) <= 0) continue;
    std::array<char, 65536> packet;
    sockaddr_ll from{};
    socklen_t length = sizeof(from);
    const ssize_t size =
        ::recvfrom(socket, packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (size <= 0 || from.sll_pkttype != PACKET_HOST) continue;
    const Frame frame = frame_in(packet.data(), static_cast<std::size_t>(size));
    if (frame.bytes.empty()) continue;
    const auto bytes = static_cast<std::uint16_t>(frame.bytes.size());
    file.write(reinterpret_cast<const char*>(&frame.port), sizeof(frame.port));
    file.write(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    file.write(frame.bytes.data(), bytes);
    ++count;
  }
  std::printf("%zu frames\n", count);
  return count > 0 && file.flush() ? 0 : 1;
}

std::vector<Frame> read_frames(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Frame> frames;
  std::uint16_t head[2];
  while (file.read(reinterpret_cast<char*>(head), sizeof(head))) {
    Frame frame{head[0], Bytes(head[1])};
    if (file.read(frame.bytes.data(), head[1])) frames.push_back(std::move(frame));
  }
  return frames;
}

enum class Kind { replayed, forged, random };
constexpr std::array<const char*, 3> kind_names{"replayed", "forged", "random"};

/// One of this kind, out of a real one.
void make(Kind kind, const Frame& real, std::mt19937_64& random, Bytes& bytes) {
  bytes = real.bytes;
  if (kind == Kind::forged) {
    // Everything but the mark, the version, the job and the receiver: flags, sender, number, what was seen,
    // MAC.
    constexpr std::array<std::size_t, 7> places{3, 8, 16, 24, 32, 48, 56};
    const std::size_t at = places[random() % places.size()];
    bytes[at] = static_cast<char>(bytes[at] ^ (1 + random() % 255));
  } else if (kind == Kind::random) {
    bytes.resize(1 + random() % 1472);
    for (char& byte : bytes) byte = static_cast<char>(random());
  }
}

/// A namespace may know no other user.
void become(const std::string& user) {
  const auto id = static_cast<uid_t>(std::stoul(user));
  if (::setgroups(0, nullptr) != 0 || ::setresgid(id, id, id) != 0 || ::setresuid(id, id, id) != 0)
    std::perror("bed_forger: stays who it is");
}

int send(const std::string& address, const std::vector<Frame>& real, std::chrono::seconds duration) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  if (real.empty() || ::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) {
    std::fprintf(stderr, "bed_forger: there are no frames, or this is no address: %s\n", address.c_str());
    return 2;
  }
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) fail("socket");
  std::mt19937_64 random(4711);
  // Made before: the rate is that of the system calls.
  constexpr std::size_t made_max = 6000;
  constexpr unsigned at_once = 64;
  std::vector<Bytes> bytes(made_max);
  std::vector<sockaddr_in> addresses(made_max, to);
  std::vector<iovec> pieces(made_max);
  std::vector<mmsghdr> messages(made_max);
  for (std::size_t i = 0; i < made_max; ++i) {
    const Frame& from = real[random() % real.size()];
    make(static_cast<Kind>(i % kind_names.size()), from, random, bytes[i]);
    addresses[i].sin_port = from.port;
    pieces[i] = {bytes[i].data(), bytes[i].size()};
    messages[i].msg_hdr.msg_name = &addresses[i];
    messages[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  std::array<std::uint64_t, kind_names.size()> sent{};
  const auto end = Clock::now() + duration;
  for (std::size_t at = 0; Clock::now() < end; at = (at + at_once) % (made_max - at_once)) {
    const int taken = ::sendmmsg(socket, &messages[at], at_once, 0);
    // A port that is closed by now is said at the next call.
    for (int i = 0; i < taken; ++i) ++sent[(at + static_cast<std::size_t>(i)) % kind_names.size()];
  }
  for (std::size_t kind = 0; kind < kind_names.size(); ++kind)
    std::printf("%s=%llu ", kind_names[kind], static_cast<unsigned long long>(sent[kind]));
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() == 3 && words[0] == "watch")
    return watch(words[1], std::chrono::milliseconds(std::stol(words[2])));
  if ((words.size() == 4 || words.size() == 5) && words[0] == "send") {
    const std::vector<Frame> frames = read_frames(words[2]);
    if (words.size() == 5) become(words[4]);
    return send(words[1], frames, std::chrono::seconds(std::stol(words[3])));
  }
  std::fprintf(stderr, "bed_forger: watch FILE MILLISECONDS, or send ADDRESS FILE SECONDS [UID]\n");
  return 2;
}
