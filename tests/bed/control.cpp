#include "control.hpp"

#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace llamada::bed {
namespace {

constexpr std::size_t message_bytes_max = 16 << 10;
constexpr std::size_t descriptors_max = 8;

std::string prefix() { return fmt::format("llamada-bed/{}/", ::getuid()); }

std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof(address.sun_path) - 1));
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

Result<FileDescriptor> new_socket() {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return system_failure("a socket");
  return socket;
}

std::optional<BedName> parse(const std::string& name) {
  BedName bed;
  const std::size_t dash = name.find('-');
  if (dash == name.npos || dash == 0) return std::nullopt;
  bed.owner = std::atoi(name.c_str());
  bed.id = name.substr(dash + 1);
  return bed;
}

pid_t parent_of(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  pid_t parent = 0;
  for (std::string line; std::getline(status, line);)
    if (std::sscanf(line.c_str(), "PPid: %d", &parent) == 1) return parent;
  return 0;
}

}  // namespace

std::string BedName::socket_name() const { return fmt::format("{}{}-{}", prefix(), owner, id); }

Result<BedName> new_name(pid_t owner) {
  std::array<unsigned char, 4> digits;
  if (::getrandom(digits.data(), digits.size(), 0) < 0) return system_failure("getrandom");
  return BedName{fmt::format("{:02x}", fmt::join(digits, "")), owner};
}

std::vector<BedName> all_beds() {
  std::vector<BedName> beds;
  std::ifstream sockets("/proc/net/unix");
  const std::string begin = '@' + prefix();
  for (std::string line; std::getline(sockets, line);) {
    // A connection of a bed has its name, too.
    const std::size_t at = line.find(begin);
    auto bed = at == line.npos ? std::nullopt : parse(line.substr(at + begin.size()));
    if (bed && std::none_of(beds.begin(), beds.end(), [&](const BedName& has) { return has.id == bed->id; }))
      beds.push_back(std::move(*bed));
  }
  return beds;
}

Result<BedName> find_bed(const std::optional<std::string>& id) {
  const char* const variable = std::getenv(bed_variable);
  const auto beds = all_beds();
  if (id || variable != nullptr) {
    const std::string wanted = id ? *id : variable;
    for (const BedName& bed : beds)
      if (bed.id == wanted) return bed;
    return failure(Errc::not_found, "there is no bed {}{}", wanted, id ? "" : " (LLAMADA_BED)");
  }
  for (pid_t pid = ::getppid(); pid > 1; pid = parent_of(pid))
    for (const BedName& bed : beds)
      if (bed.owner == pid) return bed;
  return failure(Errc::not_found, "no bed was made from here; name one of 'nodes list' with --bed");
}

Result<FileDescriptor> bind_to(const BedName& name) {
  auto socket = new_socket();
  if (!socket) return socket;
  const auto [address, size] = address_of(name.socket_name());
  if (::bind(socket->get(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
    return system_failure("bind to @" + name.socket_name());
  return socket;
}

Result<FileDescriptor> connect_to(const BedName& name) {
  auto socket = new_socket();
  if (!socket) return socket;
  const auto [address, size] = address_of(name.socket_name());
  if (::connect(socket->get(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
    return failure(Errc::not_found, "the bed {} is gone", name.id);
  return socket;
}

Status send_message(int socket, std::string_view text, std::span<const int> descriptors) {
  iovec piece{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(descriptors_max * sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) return system_failure("a message of the bed");
  return {};
}

Result<ControlMessage> receive_message(int socket) {
  std::string text(message_bytes_max, '\0');
  iovec piece{text.data(), text.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(descriptors_max * sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0 && errno == EAGAIN) return failure(Errc::would_block, "no message of the bed");
  if (got < 0) return system_failure("a message of the bed");
  if (got == 0) return failure(Errc::closed, "the other end of the bed's socket is gone");
  ControlMessage received;
  text.resize(static_cast<std::size_t>(got));
  received.text = std::move(text);
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= head->cmsg_len; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, reinterpret_cast<std::byte*>(head) + at, sizeof(int));
      received.descriptors.emplace_back(descriptor);
    }
  }
  return received;
}

Result<ControlMessage> ask(const BedName& name, std::string_view request) {
  auto socket = connect_to(name);
  if (!socket) return propagate(socket);
  if (auto sent = send_message(socket->get(), request); !sent) return propagate(sent);
  auto answer = receive_message(socket->get());
  if (!answer) return failure(Errc::closed, "the bed {} has ended", name.id);
  constexpr std::string_view good = "ok ", bad = "error ";
  if (!answer->text.starts_with(good))
    return failure(Errc::invalid_argument, "{}", answer->text.substr(bad.size()));
  answer->text.erase(0, good.size());
  return answer;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

}  // namespace llamada::bed
